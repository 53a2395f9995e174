/**
 * Receives webhooks of the portal, and writes each event into a file once, however often it is delivered.
 *
 * WEBHOOK_SECRET=whsec_… node webhook-receiver.mjs events.jsonl [port]
 *
 * Register its address by POST /api/organizations/{id}/webhooks with the same secret.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { appendFileSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';

const [file = 'events.jsonl', port = '8091'] = process.argv.slice(2);
const key = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
if (key.length < 24) throw new Error('WEBHOOK_SECRET is not set: whsec_ and the Base64 of 24 to 64 bytes.');
const MAX_BYTES = 1 << 20;
const MAX_AGE_SECONDS = 300;

/** Ids of the events in the file. A line that a crash has cut off does not count: its event was not answered. */
const received = new Set();
for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
  try {
    received.add(JSON.parse(line).id);
  } catch {}
}
if (existsSync(file) && !readFileSync(file, 'utf8').endsWith('\n')) appendFileSync(file, '\n');
const events = openSync(file, 'a');

/** Checks the signature over the bytes that came, by the rules of Standard Webhooks, in constant time. */
function isGenuine({ id, time, signatures }, body) {
  const age = Math.abs(Date.now() / 1000 - Number(time));
  if (!(age < MAX_AGE_SECONDS)) return false;
  const right = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  return signatures.split(' ').some((signature) => {
    const [version, mac = ''] = signature.split(',');
    const given = Buffer.from(mac, 'base64');
    return version === 'v1' && given.length === right.length && timingSafeEqual(given, right);
  });
}

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
  const answer = (status) => response.writeHead(status).end();
  try {
    if (request.method !== 'POST') return answer(405);
    const body = await bodyOf(request);
    if (body === undefined) return answer(413);
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures } = request.headers;
    if (!id || !time || !signatures || !isGenuine({ id, time, signatures }, body)) return answer(401);
    if (!received.has(id)) {
      const { type, data } = JSON.parse(body.toString());
      // The event is on the disk before it is answered; an answer that is lost brings it again.
      writeSync(events, `${JSON.stringify({ id, type, data })}\n`);
      fdatasyncSync(events);
      received.add(id);
      console.log(`${type} ${id}`);
    }
    return answer(204);
  } catch (error) {
    console.error(error);
    return answer(500);
  }
});
server.listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`));
