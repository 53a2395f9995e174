/** The signing page covers tags in the text of a PDF as the signed file does. */
import test from 'ava';
import { classicPdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

test.after.always(() => closeBrowser());

test.serial('the page covers a tag in white until the file has a signature', async (t) => {
  const portal = await PortalProgram.start(t);
  const visited = await visit(t, portal.url, { locale: 'en-US' });
  if (visited === undefined) return;
  const { page } = visited;
  const objects = documentObjects();
  objects.set(11, stream('', 'BT /F1 12 Tf 1 0 0 1 20 150 Tm ({{text:Ana:city}}) Tj ET'));
  const people = ['Ana', 'Bob'].map((name, index) => ({
    ...{ type: 'Signer', step: index + 1, allowElectronicSignature: true },
    user: { name, email: `${name.toLowerCase()}@example.test` },
  }));
  const id = await portal.create(classicPdf(objects), people, { textTags: true });
  const visitAs = async (name: string) => {
    await page.goto((await portal.actionUrl(id, `${name}@example.test`)).url);
    await page.locator('.page[data-drawn]').first().waitFor();
  };
  await visitAs('ana');
  const cover = page.locator('.page .cover');
  await cover.waitFor();
  const [paper, covered] = [await page.locator('.page').boundingBox(), await cover.boundingBox()];
  const isInside = covered !== null && paper !== null && covered.x > paper.x && covered.y > paper.y;
  t.true(isInside && covered.height > 5, JSON.stringify({ paper, covered }));
  const color = await page.evaluate(`getComputedStyle(document.querySelector('.cover')).backgroundColor`);
  t.is(color, 'rgb(255, 255, 255)');

  await page.getByRole('textbox', { name: 'city' }).fill('Braga');
  await openSigning(page);
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();
  await cover.waitFor({ state: 'detached' });
  await visitAs('bob');
  t.is(await cover.count(), 0);
});
