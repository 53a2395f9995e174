/** Folders of the service at a start. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { removeFormerTables } from '../../../../actors/shared/files/storage-folders.ts';
import { folderFor } from '../../../runtime/folder.ts';

test('a start removes the tables that earlier versions left, which name deleted people, and no other file', (t) => {
  const root = folderFor(t);
  const tables = [
    'lists/jobs.table',
    'lists/jobs.table.01890a5d-ac96-774b-bcce-b302099a8057.part',
    'portal/lists/a%2Fdeleted.table',
  ];
  const others = ['lists/contract.pdf', 'portal/lists/jobs.table.pdf', 'portal/jobs.table'];
  mkdirSync(join(root, 'lists'));
  mkdirSync(join(root, 'portal', 'lists'), { recursive: true });
  for (const path of [...tables, ...others]) writeFileSync(join(root, path), '');
  removeFormerTables({ root });
  t.deepEqual(
    [...tables, ...others].filter((path) => existsSync(join(root, path))),
    others,
  );
  t.notThrows(() => removeFormerTables({ root: join(root, 'missing') }));
});
