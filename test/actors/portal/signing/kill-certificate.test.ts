import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ava from 'ava';
import { pki } from '../../../pki/pki.ts';
import { Service, temporaryRoot } from '../../../service/service.ts';
import { runTool, withTools } from '../../../verifiers/index.ts';
import { Client, SETTINGS } from '../documents/killed-portal.ts';

const test = withTools(ava, 'pdfsig');

interface Started {
  readonly token: string;
  readonly toSign: string;
}

/** True when the completion was answered. */
async function signWithKey(client: Client, id: string): Promise<boolean> {
  const { certificate, key } = pki().signer('rsa-2048');
  const path = `/api/documents/${id}/signature`;
  const { flowActions } = await client.detail(id);
  const flowActionId = flowActions.find(({ status }) => status === 'Pending')?.id;
  const started = await client.call<Started>('POST', `${path}/certificate`, {
    flowActionId,
    certificate: certificate.toString('base64'),
    signaturePosition: { topLeftX: 10, topLeftY: 10, width: 100, height: 40, pageNumber: 1 },
  });
  if (started === undefined) return false;
  const { token, toSign } = started;
  const value = key.sign(Buffer.from(toSign, 'base64'), { scheme: 'rsa-pkcs1', digest: 'sha256' });
  const done = await client.call('POST', path, { flowActionId, token, signature: value.toString('base64') });
  return done !== undefined;
}

test.serial(
  'a kill while an external signature is made lets its participant sign again, and one after its promise completes it once',
  async (t) => {
    const root = await temporaryRoot(t);
    const settings = {
      ...SETTINGS,
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Trust:Intermediates:0': pki().issuingFile,
      'Signing:Trust:Revocation': 'None',
    };
    const first = await Service.start(t, { root, settings, faults: 'portal.finish.signed=kill:1' });
    const [id = ''] = (await new Client(first).create(1)) ?? [];
    t.false(await signWithKey(new Client(first), id));
    t.is(await first.ended, 'SIGKILL');
    // The attempt before the acceptance fails, so the signature is promised first and made by a stored effect.
    const faults = 'portal.signature.kept=throw:1,effect.done.before-outcome/applySignature=kill:1';
    const promised = await Service.start(t, { root, settings, faults });
    t.false(await signWithKey(new Client(promised), id));
    t.is(await promised.ended, 'SIGKILL');
    const second = await Service.start(t, { root, settings });
    const client = new Client(second);
    // It was accepted before the kill, so no participant has to sign again.
    await second.until('the signature', async () =>
      (await client.detail(id)).flowActions.some(({ status }) => status === 'Completed') ? true : undefined,
    );
    await client.sign(id);
    await second.until('the conclusion', async () =>
      (await client.detail(id)).status === 'Concluded' ? true : undefined,
    );
    const content = await client.content(id);
    const path = join(root, 'signed.pdf');
    await writeFile(path, content);
    const { stdout } = await runTool('pdfsig', ['-nocert', path]);
    t.is(stdout.match(/Signature is Valid/g)?.length, 2, stdout);
    t.is(stdout.match(/Signature Type/g)?.length, 2, stdout);
    await second.kill();
  },
);
