export const STAGES = ['develop', 'main', 'release'] as const;
export type Stage = (typeof STAGES)[number];
