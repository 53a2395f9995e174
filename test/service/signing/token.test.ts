/** A profile whose key is on a token, in the real program. */
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import ava from 'ava';
import { thumbprintOf } from '#crypto/x509/certificate.js';
import { makeTokens, PIN } from '../../crypto/keys/softhsm.ts';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/tool.ts';
import { Service, temporaryRoot } from '../service.ts';
import { profile, type Settings } from './profiles.ts';

const test = withTools(ava, 'softhsm2-util');

test('a profile signs with a key on a token, whose PIN is read from the environment; a wrong PIN is named', async (t) => {
  const signer = pki().signer('p-256');
  const tokens = makeTokens([{ label: 'service', keys: [{ signer }] }]);
  t.teardown(() => tokens.remove());
  process.env['TOKEN_TEST_PIN'] = PIN;
  const root = await temporaryRoot(t);
  process.env['WRONG_TEST_PIN'] = `${PIN}0`;
  const onToken = (index: number, name: string, members: Settings) =>
    profile(index, {
      Name: name,
      Format: 'Cades',
      'Certificate:Source': 'Pkcs11',
      'Certificate:Pkcs11:ModulePath': tokens.modulePath,
      'Certificate:Pkcs11:Thumbprint': thumbprintOf(signer.certificate),
      'Certificate:Pkcs11:PinEnvVar': 'TOKEN_TEST_PIN',
      ...members,
    });
  const service = await Service.start(t, {
    root,
    settings: {
      // The wrong PIN comes first: a token that is logged in would let it in.
      ...onToken(0, 'wrong', { 'Certificate:Pkcs11:PinEnvVar': 'WRONG_TEST_PIN' }),
      ...onToken(1, 'token', {}),
      ...onToken(2, 'absent', { 'Certificate:Pkcs11:ModulePath': join(root, 'none.so') }),
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Trust:Revocation': 'None',
    },
  });
  const job = await service.finished((await service.upload('a.bin', 'one', '?profile=token')).jobId);
  t.is(job.errorMessage, null);
  const report = await validateFile({
    format: 'Cades',
    path: join(root, 'output', 'a.signed.bin'),
    trust: { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' },
    at: Date.now(),
  });
  t.is(report.indication, 'TOTAL-PASSED');
  const { checks } = (await (await service.fetch('/api/ready')).json()) as {
    readonly checks: readonly { readonly name: string; readonly detail: string | null }[];
  };
  const detailOf = (name: string) => checks.find((check) => check.name === `profile:${name}`)?.detail ?? '';
  t.regex(detailOf('wrong'), /refuses the PIN\..* Correct the PIN in WRONG_TEST_PIN \(/);
  t.regex(detailOf('absent'), /Connect the token, or correct .*none\.so/);
});
