import { expect, it, onTestFinished } from 'vitest';
import { startMailbox, type Answer } from '../../local/mail/mailbox.ts';
import { checkPage } from '../form/chromium.ts';
import { openPage } from '../form/contact-form.ts';

it('shows the newest mail or a chosen one as its reader sees it, and answers it', async () => {
  const answers: Answer[] = [];
  const answer = async (one: Answer) => answers.push(one);
  const mailbox = await startMailbox(0, undefined, answer);
  onTestFinished(() => mailbox.close());
  const deliver = async (subject: string, Body: object) =>
    fetch(`${mailbox.url}/v2/email/outbound-emails`, {
      method: 'POST',
      body: JSON.stringify({
        FromEmailAddress: 'team@example.com',
        Destination: { ToAddresses: ['ana@example.com'] },
        Content: { Simple: { Subject: { Data: subject }, Body } },
      }),
    });
  const { page, complaints } = await openPage();
  await page.goto(mailbox.url);
  await page.getByText('No mail yet').waitFor();
  const reads = async (text: string) =>
    page.frameLocator('details[open] iframe').getByText(text).waitFor();
  await deliver('<b>first</b>', { Text: { Data: '<i>text</i> only' } });
  await reads('<i>text</i> only');
  await deliver('second'.repeat(100), {
    Html: { Data: '<p style="height: 2000px">Hello</p><script>top.document.title = 1</script>' },
    Text: { Data: 'Hello in plain text' },
  });
  await reads('Hello');
  await checkPage(page, 360);
  const frame = page.locator('details[open] iframe');
  await expect.poll(async () => (await frame.boundingBox())?.height).toBeGreaterThan(2_000);
  await page.getByText('Plain text', { exact: true }).click();
  await page.getByText('Hello in plain text').waitFor();
  await page.getByText('<b>first</b>').click();
  await reads('<i>text</i> only');
  await page.getByLabel('Your answer').last().fill('Yes.');
  await page.getByRole('button', { name: 'Reply' }).last().click();
  await page.getByText('Sent.').waitFor();
  expect(answers).toMatchObject([
    {
      from: 'ana@example.com',
      to: 'team@example.com',
      text: expect.stringMatching(/^Yes\.\n\nOn .* wrote:\n\n> <i>text<\/i> only\n$/),
    },
  ]);
  expect(await page.title()).toBe('Mailbox · local stack');
  expect(complaints.splice(0).join()).toContain('sandboxed');
});
