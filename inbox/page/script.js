/** Improves the pages, which work without it. Browsers load it as it is. */

const find = (selector) => document.querySelector(selector);

/** Where the browser stores nothing, it asks before the page is left. */
function keep(id, text) {
  try {
    if (text.trim() === '') sessionStorage.removeItem(`inbox.${id}`);
    else sessionStorage.setItem(`inbox.${id}`, text);
  } catch {}
}

/** Keeps a text in this tab until it is recorded or deleted. */
function keepDraft(box) {
  const id = box.dataset.draft;
  let isLeaving = false;
  const leave = () => (isLeaving = true);
  box.value ||= sessionStorage.getItem(`inbox.${id}`) ?? '';
  // The draft was sent, and only the response was lost.
  if (box.value.trim() === find('.reply')?.textContent.trim()) box.value = '';
  keep(id, box.value);
  const kept = box.closest('.unsent');
  if (kept !== null) kept.hidden = box.value === '';
  box.addEventListener('input', () => keep(id, box.value));
  box.addEventListener('keydown', ({ key, ctrlKey, metaKey, isComposing }) => {
    if (key !== 'Enter' || !(ctrlKey || metaKey) || isComposing || isLeaving) return;
    box.form?.requestSubmit(box.form.querySelector('.primary'));
  });
  // The draft is kept, so that links need no new tab.
  for (const link of document.links) link.removeAttribute('target');
  document.addEventListener('submit', leave);
  document.addEventListener('click', ({ target }) => target.closest('a') && leave());
  addEventListener('beforeunload', (event) => {
    if (!isLeaving && box.value.trim() !== '') event.preventDefault();
    isLeaving = false;
  });
}

function offerCopy(button) {
  const say = (text) => () => (button.textContent = text);
  button.hidden = false;
  button.addEventListener('click', () => {
    const { value, textContent } = document.getElementById(button.dataset.copy);
    navigator.clipboard.writeText(value ?? textContent).then(say('Copied'), say('Not copied'));
  });
}

/** Shows what has changed: new inquiries, a colleague's answer. */
function update(part, page) {
  const fresh = page?.getElementById(part.id);
  if (!fresh || fresh.innerHTML === part.innerHTML) return;
  const known = new Set([...part.querySelectorAll('a')].map(({ href }) => href));
  const added = [...fresh.querySelectorAll('.row')].filter(({ href }) => !known.has(href));
  const { href: focused } = document.activeElement;
  part.replaceChildren(...fresh.childNodes);
  [...part.querySelectorAll('a')].find(({ href }) => href === focused)?.focus();
  document.title = page.title;
  if (added.length > 0) find('#news').textContent = `New inquiries: ${added.length}`;
}

function follow(part) {
  if (document.visibilityState === 'hidden') return;
  const request = new XMLHttpRequest();
  request.responseType = 'document';
  request.addEventListener('load', () => update(part, request.response));
  request.open('GET', part.dataset.live);
  request.send();
}

const recorded = find('[data-recorded]');
if (recorded !== null) keep(recorded.dataset.recorded, '');
document.querySelectorAll('[data-draft]').forEach(keepDraft);
document.querySelectorAll('[data-copy]').forEach(offerCopy);
for (const part of document.querySelectorAll('[data-live]')) setInterval(follow, 25_000, part);
