/* Starts Swagger UI on the docs page of the local stack; runs in the browser, before anything is painted. */
'use strict';

/** Swagger UI has a dark theme, which its stand-alone page alone switches. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

/** What Swagger UI leaves without a name or a correct role for assistive technology. */
const attributes = [
  ['.information-container, .scheme-container', 'role', 'region'],
  ['.information-container', 'aria-label', 'About'],
  ['.scheme-container', 'aria-label', 'Server and sign-in'],
  ['.opblock-tag, .models h4', 'aria-level', '2'],
  ['.opblock h4', 'aria-level', '3'],
  ['.opblock h5', 'aria-level', '4'],
  ['.responses-table', 'role', 'table'],
  ['.servers select', 'aria-label', 'Server'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.body-param__text', 'aria-label', 'Request body'],
  ['.content-type', 'aria-label', 'Media type'],
  ['.dialog-ux h3', 'aria-level', '2'],
  ['.dialog-ux h4', 'aria-level', '3'],
  ['.dialog-ux .scopes h2', 'aria-level', '4'],
  ['.dialog-ux .close-modal', 'aria-label', 'Close'],
  ['.curl, .highlight-code pre', 'tabindex', '0'],
];
const complete = () => {
  for (const [selector, name, value] of attributes) {
    for (const element of document.querySelectorAll(selector)) element.setAttribute(name, value);
  }
  // Some of these buttons have a name that differs from their text, and some have neither.
  for (const button of document.querySelectorAll('.dialog-ux .auth, .json-schema-2020-12-accordion')) {
    button.ariaLabel = button.textContent.trim() === '' ? 'Schema' : null;
  }
};

const start = async () => {
  new MutationObserver(complete).observe(document.body, {
    childList: true,
    characterData: true,
    subtree: true,
  });
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
};
addEventListener('DOMContentLoaded', () => void start());
