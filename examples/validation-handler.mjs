/**
 * A web service that validates signed files.
 *
 * node validation-handler.mjs roots.pem [port]
 * curl --data-binary @contract.signed.pdf http://127.0.0.1:8090/
 *
 * Files are limited in size and kept in memory; validation of one file runs at a time on this thread. A busy service validates in worker threads.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { certificatesIn, formatOfHeader, HEADER_BYTES, validateFile } from '@sealwright/signatures';

const [roots = '', port = '8090'] = process.argv.slice(2);
const trust = { anchors: certificatesIn(readFileSync(roots)), revocation: 'none' };
const MAX_BYTES = 20 << 20;

async function bodyOf(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > MAX_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const server = createServer(async (request, response) => {
  const answer = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.method !== 'POST') return answer(405, { error: 'Send a signed file by POST.' });
  try {
    const file = await bodyOf(request);
    if (file === undefined) return answer(413, { error: `Files have at most ${MAX_BYTES} bytes.` });
    const format = formatOfHeader(file.subarray(0, HEADER_BYTES)) ?? 'Cades';
    const report = await validateFile({ format, path: file, trust, at: Date.now() });
    return answer(200, {
      format: report.format,
      valid: report.indication === 'TOTAL-PASSED',
      indication: report.indication,
      signers: report.signatures.map(({ certificate, indication, results }) => ({
        name: certificate?.subjectName,
        indication,
        reasons: results.errors.map(({ message }) => message),
      })),
    });
  } catch (error) {
    console.error(error);
    return answer(500, { error: 'The file could not be validated.' });
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
