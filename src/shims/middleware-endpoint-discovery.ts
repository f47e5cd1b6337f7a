/**
 * Replaces the discovery of endpoints, which `endpointDiscoveryEnabled: false` switches off (src/entities/client.ts).
 * docs/adr/0060
 */
export const resolveEndpointDiscoveryConfig = <Config>(config: Config): Config => config;

/** The setting in the environment and in files, which is not read. */
export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = {
  environmentVariableSelector: () => undefined,
  configFileSelector: () => undefined,
  default: false,
};
