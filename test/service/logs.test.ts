/** Everything a running service writes to its logs, and above all what it does not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Service, temporaryRoot } from './service.ts';

const SECRETS = {
  'Auth:ApiKey': 'an-api-key-nobody-may-read',
  'Auth:PreviousApiKey': 'the-key-from-before-0815',
  'Encryption:Password': 'envelope password 4711',
  'Encryption:Salt': Buffer.from('a salt of sixteen and more').toString('base64'),
};

/** Every file below the log folder, with its text. */
function logsOf(root: string): string {
  const folder = join(root, 'logs');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

test('a run that uses every secret writes none of them to console or files', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: {
      ...SECRETS,
      'Encryption:Enabled': true,
      'Encryption:Iterations': 100_000,
      'Logging:LogLevel:Default': 'Verbose',
      'Logging:File:MinimumLevel': 'Verbose',
    },
  });
  const headers = { 'X-API-Key': SECRETS['Auth:ApiKey'] };
  const form = new FormData();
  form.set('file', new Blob(['content']), `${SECRETS['Encryption:Password']}.txt`);
  const uploaded = await fetch(`${service.url}/api/files`, { method: 'POST', headers, body: form });
  t.is(uploaded.status, 202);
  for (const key of [SECRETS['Auth:PreviousApiKey'], 'wrong-key-of-a-stranger']) {
    await fetch(`${service.url}/api/jobs`, { headers: { 'X-API-Key': key } });
    await fetch(`${service.url}/api/auth/login`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ ApiKey: key }),
    });
  }
  // A secret where the path is quoted in a refusal, plain and encoded.
  await fetch(`${service.url}/api/${SECRETS['Auth:ApiKey']}`, { headers });
  await fetch(`${service.url}/api/jobs?status=${encodeURIComponent(SECRETS['Encryption:Password'])}`, {
    headers,
  });
  const { jobId } = (await uploaded.json()) as { jobId: string };
  await service.until('the job to end', async () => {
    const job = (await (await fetch(`${service.url}/api/jobs/${jobId}`, { headers })).json()) as {
      status: string;
    };
    return job.status === 'Completed' ? true : undefined;
  });
  t.is(await service.stop(), 0);

  const files = logsOf(root);
  t.regex(files, /\[INF\] Ready/);
  t.regex(files, /\[DBG\] Request answered/);
  for (const [name, text] of [
    ['files', files],
    ['console', service.printed],
  ] as const) {
    for (const secret of Object.values(SECRETS)) {
      for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
        t.false(text.includes(form), `${name} ${form}`);
    }
    t.false(text.includes('wrong-key-of-a-stranger'), name);
  }
});

test('every line about a request carries its request id and its trace id', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, { root });
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const response = await service.fetch('/api/pipeline/pause', {
    method: 'POST',
    headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` },
  });
  const id = response.headers.get('x-request-id') ?? 'none';
  t.is(await service.stop(), 0);
  const lines = logsOf(root).split('\n');
  const own = lines.find((line) => line.includes('/api/pipeline/pause'));
  t.true(own?.includes(`RequestId: "${id}"`), own);
  t.regex(own ?? '', new RegExp(`TraceId: "00-${trace}-`));
  t.true(lines.filter((line) => / Request /.test(line)).every((line) => /RequestId: "0H/.test(line)));
});

test('an unwritable log folder never stops the service', async (t) => {
  const root = await temporaryRoot(t);
  const service = await Service.start(t, {
    root,
    settings: { 'Logging:File:Path': '/dev/null/logs/batch-.log' },
  });
  const { jobId } = await service.upload('note.txt', 'content');
  t.is((await service.finished(jobId)).status, 'Completed');
  await service.until('the warning', async () =>
    /\[WRN\] Log files cannot be written.*Reason: "ENOTDIR"/.test(service.printed) ? true : undefined,
  );
  t.is(await service.stop(), 0);
});
