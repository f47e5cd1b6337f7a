/** Shows the newest mail until another one is opened. */
const status = document.querySelector('[role=status]');
let shown = 0;

const create = (tag, properties, ...content) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...content);
  return element;
};

function createAnswer({ FromEmailAddress, Destination, ReplyToAddresses = [], Content }) {
  const { Subject, Body } = Content.Simple;
  const [from] = Destination.ToAddresses;
  const [to = FromEmailAddress] = ReplyToAddresses;
  const text = create('textarea', { rows: 3, required: true });
  const result = create('p', { role: 'status' });
  const label = create('label', {}, 'Your answer', text);
  const button = create('button', { className: 'primary' }, 'Reply');
  const form = create('form', {}, label, button, result);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const quoted = (Body.Text?.Data ?? '').replaceAll(/^/gm, '> ');
    const named = `On ${new Date().toUTCString()}, ${FromEmailAddress} wrote:`;
    const answer = {
      from,
      to,
      subject: `Re: ${Subject.Data}`,
      text: `${text.value}\n\n${named}\n\n${quoted}\n`,
    };
    const { ok } = await fetch('/answer', { method: 'POST', body: JSON.stringify(answer) });
    result.textContent = ok ? 'Sent.' : 'This address takes no mail here.';
    if (ok) text.value = '';
  });
  return form;
}

function format(mail) {
  const { at, FromEmailAddress, Destination, ReplyToAddresses = [], Content } = mail;
  const { Subject, Body, Attachments = [] } = Content.Simple;
  const facts = [
    new Date(at).toLocaleTimeString(),
    `from ${FromEmailAddress}`,
    `to ${Destination.ToAddresses.join(', ')}`,
    ...ReplyToAddresses.map((address) => `reply to ${address}`),
    ...Attachments.map(({ FileName }) => `with ${FileName}`),
  ];
  const text = create('pre', {}, Body.Text?.Data ?? '');
  const frame = create('iframe', {
    title: Subject.Data,
    // The same origin allows to measure its height. Scripts stay off.
    sandbox: 'allow-popups allow-same-origin',
    srcdoc: `<base target="_blank">${Body.Html?.Data ?? text.outerHTML}`,
  });
  const summary = create('summary', {}, Subject.Data, create('small', {}, facts.join(' · ')));
  const plain = create('details', {}, create('summary', {}, 'Plain text'), text);
  const fit = () => {
    frame.style.height = `${frame.contentDocument?.documentElement.offsetHeight ?? 0}px`;
  };
  frame.addEventListener('load', fit);
  // The size changes when a mail is opened or the window becomes wider.
  new ResizeObserver(fit).observe(frame);
  const parts = Body.Html === undefined ? [] : [plain];
  return create('details', { name: 'mail' }, summary, frame, ...parts, createAnswer(mail));
}

async function refresh() {
  const mails = await (await fetch('/mails')).json();
  if (mails.length < shown) location.reload();
  const open = document.querySelector('[name=mail][open]');
  const followsNewest = open === document.querySelector('[name=mail]');
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
