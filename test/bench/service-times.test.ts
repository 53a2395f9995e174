import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { serviceTimes } from '../../bench/overload/watch.ts';
import { formatLine } from '../../logging/line.ts';
import { freshFolder } from '../commands/program.ts';

const BEGIN = Date.parse('2026-11-23T12:00:00.000Z');

function line(at: number, request: { readonly Route: string; readonly Status: number; readonly Ms: number }) {
  const properties = { Method: 'POST', ...request, Client: '::1' };
  return formatLine({ at, level: 'Information', text: 'Request answered.', properties }, (text) => text);
}

test('times by the service are those of one route and status that began in the given time', async (t) => {
  const folder = freshFolder();
  const upload = { Route: '/api/files', Status: 202 };
  const first = [
    line(BEGIN + 5, { ...upload, Ms: 20 }),
    line(BEGIN + 40, { ...upload, Ms: 12.5 }),
    line(BEGIN + 50, { ...upload, Status: 503, Ms: 1 }),
    line(BEGIN + 60, { Route: '/api/documents', Status: 202, Ms: 2 }),
    'Another line.\n',
  ];
  writeFileSync(join(folder, 'batch-20261123.log'), first.join(''));
  writeFileSync(join(folder, 'batch-20261123_001.log'), line(BEGIN + 130, { ...upload, Ms: 40 }));
  const during = (until: number) =>
    serviceTimes(folder, { route: '/api/files', status: 202, from: BEGIN, until });

  const both = await during(BEGIN + 100);
  t.is(both.count, 2);
  t.true(Math.abs(both.latency().longest - 40) < 0.1);
  t.is((await during(BEGIN + 80)).count, 1);
});
