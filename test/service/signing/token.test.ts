/** A profile whose key is on a token, in the real program. */
import { join } from 'node:path';
import { validateFile } from '@sealwright/signatures';
import test from 'ava';
import { thumbprintOf } from '#crypto/x509/certificate.js';
import { makeTokens, PIN, requireTokens } from '../../crypto/keys/softhsm.ts';
import { pki } from '../../pki/pki.ts';
import { Service, temporaryRoot } from '../service.ts';
import { profile } from './profiles.ts';

test('a profile signs with a key on a token, whose PIN is read from the environment', async (t) => {
  if (!requireTokens(t)) return;
  const signer = pki().signer('p-256');
  const tokens = makeTokens([{ label: 'service', keys: [{ signer }] }]);
  t.teardown(() => tokens.remove());
  process.env['TOKEN_TEST_PIN'] = PIN;
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: {
      ...profile(0, {
        Name: 'token',
        Format: 'Cades',
        'Certificate:Source': 'Pkcs11',
        'Certificate:Pkcs11:ModulePath': tokens.modulePath,
        'Certificate:Pkcs11:Thumbprint': thumbprintOf(signer.certificate),
        'Certificate:Pkcs11:PinEnvVar': 'TOKEN_TEST_PIN',
      }),
      'Signing:Trust:Roots:0': pki().rootFile,
      'Signing:Trust:Revocation': 'None',
    },
  });
  const job = await service.finished((await service.upload('a.bin', 'one')).jobId);
  t.is(job.errorMessage, null);
  const report = await validateFile({
    format: 'Cades',
    path: join(root, 'output', 'a.signed.bin'),
    trust: { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' },
    at: Date.now(),
  });
  t.is(report.indication, 'TOTAL-PASSED');
});
