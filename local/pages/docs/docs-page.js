/* Starts Swagger UI on the docs page of the local stack, in the reader's colours, and adds the copy buttons. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyScheme);
applyScheme();

for (const line of document.querySelectorAll('section pre')) {
  const copy = document.createElement('button');
  const show = (verb) => {
    copy.textContent = verb;
    copy.ariaLabel = `${verb}: ${line.previousElementSibling.textContent}`;
  };
  show('Copy');
  copy.addEventListener('click', () => {
    void navigator.clipboard.writeText(line.textContent).then(() => show('Copied'));
  });
  line.after(copy);
}

const { clientId, spec } = await (await fetch('/page.json')).json();
const ui = globalThis.SwaggerUIBundle({
  dom_id: '#swagger-ui',
  spec,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  // No list of schemas: the operations show those that they use.
  defaultModelsExpandDepth: -1,
  // Swagger UI would otherwise load a badge from an online validator.
  validatorUrl: null,
  oauth2RedirectUrl: `${location.origin}/callback`,
});
ui.initOAuth({ clientId, scopes: 'openid', usePkceWithAuthorizationCodeGrant: true });

/** What Swagger UI does not say to screen readers: attributes by selector. */
const attributes = {
  '.information-container': { role: 'region', 'aria-label': 'About the API' },
  '.scheme-container': { role: 'region', 'aria-label': 'Server and sign-in' },
  '#servers': { 'aria-label': 'Server' },
  '.body-param__text': { 'aria-label': 'Request body' },
  '.examples-select-element': { 'aria-label': 'Example' },
  'pre.microlight': { tabindex: '0' },
  '.responses-table': { role: 'table' },
  // Two elements have the same id.
  '.opblock-section-request-body .content-type': { id: 'request-type' },
  '.modal-ux': { role: 'dialog', 'aria-label': 'Sign-in' },
  '.modal-btn.authorize': { 'aria-label': 'Authorize' },
  '.close-modal': { 'aria-label': 'Close' },
  '.scopes h2': { 'aria-level': '5' },
};
const page = document.querySelector('#swagger-ui');
new MutationObserver(() => {
  for (const field of page.querySelectorAll('[placeholder]')) field.ariaLabel = field.placeholder;
  for (const [selector, values] of Object.entries(attributes)) {
    for (const element of page.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
    }
  }
}).observe(page, { childList: true, subtree: true });
