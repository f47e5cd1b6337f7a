/** Lists the mails, newest first, and shows one as its reader sees it: the newest, until another is chosen. */
const [list, status, title, facts, frame] = ['nav', '[role=status]', 'h2', '#facts', 'iframe'].map(
  (selector) => document.querySelector(selector),
);
let shown = 0;

const addressesOf = ({ Destination }) => Destination.ToAddresses.join(', ');

function show(mail, button) {
  const { Subject, Body } = mail.Content.Simple;
  title.textContent = Subject.Data;
  facts.textContent = [
    `From ${mail.FromEmailAddress}`,
    `to ${addressesOf(mail)}`,
    ...(mail.ReplyToAddresses ?? []).map((address) => `reply to ${address}`),
  ].join(' · ');
  const text = Object.assign(document.createElement('pre'), { textContent: Body.Text?.Data });
  const html = Body.Html?.Data ?? `<head></head>${text.outerHTML}`;
  frame.srcdoc = html.replace('<head>', '<head><base target="_blank">');
  frame.hidden = false;
  list.querySelector('[aria-current]')?.removeAttribute('aria-current');
  button.ariaCurrent = 'true';
}

async function refresh() {
  const mails = await (await fetch('/mails')).json();
  // The stack keeps mails in memory: it was started again.
  if (mails.length < shown) location.reload();
  const followsNewest = list.querySelector('[aria-current]') === list.firstElementChild;
  for (const mail of mails.slice(shown)) {
    const button = document.createElement('button');
    const line = document.createElement('small');
    line.textContent = `${new Date(mail.at).toLocaleTimeString()} · ${addressesOf(mail)}`;
    button.append(mail.Content.Simple.Subject.Data, line);
    button.addEventListener('click', () => show(mail, button));
    list.prepend(button);
  }
  if (mails.length > shown && followsNewest) show(mails.at(-1), list.firstElementChild);
  shown = mails.length;
  if (shown > 0) status.textContent = `${shown} sent since the start.`;
}

setInterval(
  () => void refresh().catch(() => (status.textContent = 'The stack does not run.')),
  1_000,
);
await refresh();
