/* Starts Swagger UI on the docs page of the local stack; runs in the browser. */
'use strict';

const { clientId } = document.body.dataset;

const ui = globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '/page.json',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // Swagger UI would otherwise load a badge from an online validator.
  validatorUrl: null,
  oauth2RedirectUrl: `${location.origin}/callback`,
});
ui.initOAuth({ clientId, scopes: 'openid', usePkceWithAuthorizationCodeGrant: true });
