/** What the commands, the local gateway and the Terraform module know about every stage. */
import service from '../infra/terraform/service.json' with { type: 'json' };

export type Stage = keyof typeof service.stages;
export const STAGES = Object.keys(service.stages) as Stage[];

/** CORS settings of the API. */
export const CORS = service.cors;

/** Which names a service may have, for messages. */
export const NAME_RULE = service.name.rule;

/** Whether the service may have the name. */
export const isServiceName = (name: string): boolean =>
  new RegExp(service.name.pattern).test(name) && !new RegExp(service.name.refused).test(name);
