import service from '../../infra/terraform/service.json' with { type: 'json' };

export type Stage = keyof typeof service.stages;
export const STAGES = Object.keys(service.stages) as Stage[];

export const CORS = service.cors;
/** SES receives mails in these regions (docs/aws-evidence.md). */
export const RECEIVING_REGIONS: readonly string[] = service.receiving_regions;

export const NAME_RULE = service.name.rule;

export const isServiceName = (name: string): boolean =>
  new RegExp(service.name.pattern).test(name) && !new RegExp(service.name.refused).test(name);
