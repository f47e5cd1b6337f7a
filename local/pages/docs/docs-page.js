/* Starts Swagger UI on the docs page of the local stack. */
const { clientId, spec } = await (await fetch('/page.json')).json();
const ui = globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  spec,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Swagger UI would otherwise load a badge from an online validator.
  validatorUrl: null,
  oauth2RedirectUrl: `${location.origin}/callback`,
});
ui.initOAuth({ clientId, scopes: 'openid', usePkceWithAuthorizationCodeGrant: true });
