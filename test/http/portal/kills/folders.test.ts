/** The removal of a folder when the process is killed while it moves or deletes what the folder holds. */
import test from 'ava';
import { type Client, rootsLike, SAMPLE, startProgram, until } from '../../../actors/portal/service.ts';
import { casesOf } from '../../../project/rounds.ts';

const ANA = { user: { name: 'Ana', email: 'ana@example.org' }, allowElectronicSignature: true };
const FOLDERS = '/api/folders';
/** More than one batch of the removal. */
const DOCUMENTS = 66;

/** A folder with many documents, and a folder in it with one. */
async function fill(client: Client): Promise<{ readonly folder: string; readonly inner: string }> {
  const { id: folder } = await client.post<{ id: string }>(FOLDERS, { name: 'Old' });
  const { id: inner } = await client.post<{ id: string }>(FOLDERS, { name: 'Inner', parentId: folder });
  const { id, name, contentType } = await client.upload();
  const add = (count: number, folderId: string) =>
    client.post('/api/documents', {
      files: Array.from({ length: count }, (_, at) => ({
        id,
        name,
        contentType,
        displayName: `${SAMPLE.name} ${at}`,
      })),
      flowActions: [ANA],
      folderId,
      disableNotifications: true,
    });
  await add(50, folder);
  await add(DOCUMENTS - 50, folder);
  await add(1, inner);
  return { folder, inner };
}

const filledRoot = rootsLike(async (t, root) => {
  const { acme, service } = await startProgram(t, { root });
  const { folder, inner } = await fill(acme);
  const { id: destination } = await acme.post<{ id: string }>(FOLDERS, { name: 'New' });
  const [kept = ''] = await idsIn(acme, folder);
  await service.kill();
  return { folder, inner, destination, kept };
});

async function countIn(client: Client, folder?: string): Promise<number> {
  const query = folder === undefined ? '' : `?folderId=${folder}`;
  return (await client.get<{ totalCount: number }>(`/api/documents${query}`)).totalCount;
}

async function idsIn(client: Client, folder: string): Promise<readonly string[]> {
  const path = `/api/documents?folderId=${folder}&limit=100`;
  return (await client.get<{ items: { id: string }[] }>(path)).items.map(({ id }) => id);
}

async function isKnown(client: Client, folder: string): Promise<boolean> {
  return (await client.fetch(`${FOLDERS}/${folder}`)).status === 200;
}

for (const [action, point, pass] of casesOf(
  [
    ['MoveContent', 'step.committed.before-reply/document', 5],
    ['DeleteContent', 'portal.folder.some', 1],
  ],
  [
    ['DeleteContent', 'effect.done.before-outcome/emptyFolder', 1],
    ['MoveContent', 'portal.folder.some', 1],
    ['DeleteContent', 'effect.leased.before-run/emptyFolder', 1],
    ['DeleteContent', 'step.committed.before-reply/document', 5],
  ],
))
  test.serial(
    `a kill at ${point} of ${action} leaves no document in the folder, and loses none`,
    async (t) => {
      const { root, folder, inner, destination, kept } = await filledRoot(t);
      const first = await startProgram(t, { root, faults: `${point}=kill:${pass}` });
      const body = {
        deleteAction: action,
        destinationFolderId: action === 'MoveContent' ? destination : null,
      };
      // The reply waits 2 s for the content, so a slow removal may be answered before the kill.
      await first.acme.send(`${FOLDERS}/${folder}/delete`, body).catch(() => undefined);
      t.is(await first.service.ended, 'SIGKILL');

      const { acme } = await startProgram(t, { root });
      const [moved, all] = action === 'MoveContent' ? [DOCUMENTS, DOCUMENTS + 1] : [0, 0];
      await until(async () => ((await countIn(acme)) === all ? true : undefined));
      await until(async () => ((await countIn(acme, folder)) === 0 ? true : undefined));
      await until(async () => ((await countIn(acme, destination)) === moved ? true : undefined));
      t.false(await isKnown(acme, folder));
      t.true(await isKnown(acme, destination));
      if (action === 'MoveContent') {
        await until(async () => {
          const { items } = await acme.get<{ items: { id: string; parentId: string | null }[] }>(FOLDERS);
          return items.find(({ id }) => id === inner)?.parentId === destination ? true : undefined;
        });
        t.is(await countIn(acme, inner), 1);
        t.like(await acme.get(`/api/documents/${kept}`), { status: 'Pending' });
      } else {
        await until(async () => ((await isKnown(acme, inner)) ? undefined : true));
        const answer = await acme.fetch(`/api/documents/${kept}`);
        t.like(await answer.json(), { code: 'DocumentIsDeleted' });
      }
    },
  );
