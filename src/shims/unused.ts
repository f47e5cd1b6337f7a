/**
 * Replaces lib-dynamodb and util-dynamodb in the bundle of the request function. ElectroDB requires both when it is loaded
 * and uses them only to send requests and to parse transactions, which the function leaves to the SDK. docs/adr/0060
 */
// oxlint-disable-next-line unicorn/require-module-specifiers -- a module needs a statement
export {};
