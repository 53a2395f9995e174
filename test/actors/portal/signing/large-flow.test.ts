/** A document at the limits of a flow: 30 who sign, 20 who approve, 200 fields, 300 pages. */
import test from 'ava';
import { classicPdf, documentObjects } from '../../../crypto/pdf/build.ts';
import { pki } from '../../../pki/pki.ts';
import { pdfsig, requireTool, runTool } from '../../../verifiers/index.ts';
import { approver, ORIGIN, portalFixture, signer } from '../documents/flow-harness.ts';

test('a document of 50 participants, 200 fields and 300 pages concludes with every signature accepted', async (t) => {
  if (!requireTool(t, 'pdfsig', 'certutil', 'pdftotext')) return;
  const fixture = await portalFixture(t);
  const file = await fixture.file('large.pdf', classicPdf(documentObjects({ pages: 300, text: 'Clause' })));
  const names = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}${at}`);
  const [signing, approving] = [names('signer', 30), names('approver', 20)];
  const fieldsOf = (at: number) =>
    Array.from({ length: at < 20 ? 7 : 6 }, (_, index) => ({
      name: `${at}-${index}`,
      ...{ topLeftX: 10, topLeftY: 10 + 25 * index, width: 80, height: 20, pageNumber: 10 * at + index + 1 },
    }));
  t.is(
    signing.reduce((sum, _, at) => sum + fieldsOf(at).length, 0),
    200,
  );
  const id = await fixture.create(
    [
      ...signing.map((name, at) => signer(name, 0, { fields: fieldsOf(at) })),
      ...approving.map((name) => approver(name)),
    ],
    { files: [file] },
  );
  for (const name of approving)
    await fixture.portal.signing.approve(await fixture.ticket(id, `${name}@example.org`), ORIGIN);
  for (const [at, name] of signing.entries()) {
    const fieldValues = Object.fromEntries(fieldsOf(at).map((field) => [field.name, `v${field.name}`]));
    await fixture.sign(id, `${name}@example.org`, { fieldValues });
  }
  await fixture.until(id, ({ status }) => status === 'Concluded');
  const path = await fixture.signedFile(id);
  const found = await pdfsig(path, pki());
  t.is(found.length, 30);
  for (const { signature } of found) t.is(signature, 'Signature is Valid.');
  t.true(found.at(-1)?.coversWholeFile);
  const { stdout } = await runTool('pdftotext', ['-layout', path, '-']);
  for (const [at] of signing.entries())
    for (const { name } of fieldsOf(at)) t.true(stdout.includes(`v${name}`), name);
});
