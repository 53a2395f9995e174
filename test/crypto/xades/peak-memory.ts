/** Process that signs one file and prints its peak of resident memory in kilobytes. */
import { signXades } from '#crypto/xades/sign.js';
import { pki } from '../../pki/pki.ts';

const [input = '', output = '', xades = '{}'] = process.argv.slice(2);
signXades({
  format: 'Xades',
  input,
  output,
  signer: pki().signer('p-256'),
  at: Date.now(),
  xades: JSON.parse(xades),
});
process.stdout.write(`${process.resourceUsage().maxRSS}`);
