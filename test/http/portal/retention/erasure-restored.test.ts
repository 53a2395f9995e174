/** Erasures on a store that was restored from an older backup. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { ErasureFile } from '../../../../actors/portal/erasure/erasures.ts';
import { clockedPortal } from '../requests/clocked-portal.ts';
import { ANA, ana, canceled, erased, finished, placesOf } from './erasures.ts';

function memoryFile(): ErasureFile & { text: string | undefined } {
  return {
    text: undefined,
    read() {
      return this.text;
    },
    keep(text) {
      this.text = text;
    },
  };
}

test('a restored older store gets the erasures again, and later documents stay', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'sealwright-erasure-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const erasures = memoryFile();
  const first = await clockedPortal(t, { root: join(root, 'a'), erasures } as never);
  const id = await canceled(first, ana());
  await first.close();
  cpSync(join(root, 'a'), join(root, 'backup'), { recursive: true });
  const second = await clockedPortal(t, { root: join(root, 'a'), erasures } as never);
  t.like(await erased(second, ANA), { erased: 1 });
  t.notRegex(erasures.text ?? '', /ana/i);
  await second.close();

  const restored = await clockedPortal(t, { root: join(root, 'backup'), erasures, later: 60_000 } as never);
  const [entry] = (erasures.text ?? '').split('\n');
  const report = await finished(restored, (JSON.parse(entry ?? '') as { id: string }).id);
  t.like(report, { erased: 1, documents: [{ documentId: id, outcome: 'Deleted' }] });
  t.deepEqual(await placesOf(restored, /ana[. ]silva/i), []);
  const later = await canceled(restored, ana());
  await restored.close();
  const again = await clockedPortal(t, { root: join(root, 'backup'), erasures, later: 60_000 } as never);
  t.regex(JSON.stringify(await again.client.get(`/api/documents/${later}`)), /ana\.silva/);
  t.is((await again.client.get<{ totalCount: number }>('/api/erasures')).totalCount, 1);
  for (const email of ['ana', 'a@b@', '', 'x'.repeat(9_000), ' '])
    t.true((await again.client.send('/api/erasures', { email })).status >= 400, email.slice(0, 9));
  await again.close();
});
