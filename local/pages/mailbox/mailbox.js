/** Lists the mails, newest first, and shows one as its reader sees it: the newest, until another is chosen. */
const [list, status, title, facts, frame] = ['nav', '[role=status]', 'h2', '#facts', 'iframe'].map(
  (selector) => document.querySelector(selector),
);
/** Milliseconds. */
const INTERVAL = 1_000;
let shown = 0;

function show({ subject, from, destination, replyTo, body }, button) {
  title.textContent = subject;
  facts.textContent = [
    `From ${from}`,
    `to ${destination.to.join(', ')}`,
    ...replyTo.map((address) => `reply to ${address}`),
  ].join(' · ');
  const text = Object.assign(document.createElement('pre'), { textContent: body.text ?? '' });
  const html = body.html ?? `<head></head>${text.outerHTML}`;
  frame.srcdoc = html.replace('<head>', '<head><base target="_blank">');
  frame.hidden = false;
  list.querySelector('[aria-current]')?.removeAttribute('aria-current');
  button.ariaCurrent = 'true';
}

async function refresh() {
  const { emails } = await (await fetch('/store')).json();
  // The stack keeps mails in memory: it was started again.
  if (emails.length < shown) location.reload();
  const followsNewest = list.querySelector('[aria-current]') === list.firstElementChild;
  for (const mail of emails.slice(shown)) {
    const button = document.createElement('button');
    const line = document.createElement('small');
    line.textContent = `${new Date(mail.at * 1_000).toLocaleTimeString()} · ${mail.destination.to.join(', ')}`;
    button.append(mail.subject, line);
    button.addEventListener('click', () => show(mail, button));
    list.prepend(button);
  }
  if (emails.length > shown && followsNewest) show(emails.at(-1), list.firstElementChild);
  shown = emails.length;
  if (shown > 0) status.textContent = `${shown} sent since the start.`;
}

setInterval(
  () => void refresh().catch(() => (status.textContent = 'The stack does not run.')),
  INTERVAL,
);
await refresh();
