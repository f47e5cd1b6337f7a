/** Lists the mails, newest first, and shows one as its reader sees it: the newest, until another is opened. */
const status = document.querySelector('[role=status]');
let shown = 0;

/** Creates an element with properties and content. */
const create = (tag, properties, ...content) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
};

function format({ at, FromEmailAddress, Destination, ReplyToAddresses = [], Content }) {
  const { Subject, Body } = Content.Simple;
  const facts = [
    new Date(at).toLocaleTimeString(),
    `from ${FromEmailAddress}`,
    `to ${Destination.ToAddresses.join(', ')}`,
    ...ReplyToAddresses.map((address) => `reply to ${address}`),
  ];
  const text = create('pre', {}, Body.Text?.Data ?? '').outerHTML;
  const frame = create('iframe', {
    title: Subject.Data,
    sandbox: 'allow-popups',
    srcdoc: `<base target="_blank">${Body.Html?.Data ?? text}`,
  });
  const summary = create('summary', {}, Subject.Data, create('small', {}, facts.join(' · ')));
  return create('details', { name: 'mail' }, summary, frame);
}

async function refresh() {
  const mails = await (await fetch('/mails')).json();
  // The stack keeps mails in memory: it was started again.
  if (mails.length < shown) location.reload();
  const open = document.querySelector('details[open]');
  const followsNewest = open === document.querySelector('details');
  for (const mail of mails.slice(shown)) status.after(format(mail));
  if (mails.length > shown && followsNewest) status.nextSibling.open = true;
  shown = mails.length;
  if (shown > 0) status.textContent = `${shown} sent since the start.`;
}

async function poll() {
  await refresh().catch(() => (status.textContent = 'The stack does not run.'));
  setTimeout(() => void poll(), 1_000);
}
await poll();
