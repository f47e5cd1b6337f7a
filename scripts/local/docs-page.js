/* The page of the local stack that describes the service; runs in the browser. */
'use strict';

const { clientId } = document.body.dataset;

const ui = globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  url: '/page.json',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // A badge would be fetched from a validator on the internet.
  validatorUrl: null,
  oauth2RedirectUrl: `${location.origin}/callback`,
});
ui.initOAuth({ clientId, scopes: 'openid', usePkceWithAuthorizationCodeGrant: true });
