/** `/input`: a card for each input folder, and rescans. */
import type { Folders } from '../../../clients/typescript/batch.d.ts';
import { Card, Facts, PageHead, Skeleton, StateOf } from '../../components/surfaces.tsx';
import { Time } from '../../components/time.tsx';
import { State, Trouble, type View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

/** A folder with the numbers of its jobs. */
export type FolderData = Folders['folders'][number] & { readonly waiting: number; readonly failed: number };

export interface InputActions {
  /** @param name undefined: all folders */
  rescan(button: HTMLButtonElement, name?: string): void;
}

export function InputView({ data: folders, actions }: View<readonly FolderData[], InputActions>) {
  return (
    <>
      <PageHead title="Input folders">
        <ActionButton
          sends="POST /api/rescan"
          id="rescan-all"
          icon="rotate-cw"
          onClick={({ currentTarget }) => actions?.rescan(currentTarget)}
        >
          Rescan all
        </ActionButton>
      </PageHead>
      {folders === undefined && <Skeleton lines={6} label="The folders are being loaded." />}
      {folders?.length === 0 && (
        <StateOf icon="folder-input" title="No input folder is configured.">
          <p>
            <code>WatchedFolder:Folders</code> names them.
          </p>
        </StateOf>
      )}
      {folders?.map((folder) => (
        <Card
          key={folder.name}
          label={`Folder ${folder.name}`}
          title={
            <>
              {folder.name} <State of={folder.exists ? folder.status : 'Missing'} />
            </>
          }
          aside={
            <ActionButton
              sends="POST /api/rescan"
              id={`rescan-${folder.name}`}
              onClick={({ currentTarget }) => actions?.rescan(currentTarget, folder.name)}
            >
              Rescan this
            </ActionButton>
          }
          hasBody
        >
          <Facts
            pairs={[
              ['Path', <code>{folder.path}</code>],
              ['Profile', folder.profile],
              [
                'Waiting jobs',
                <a href={`/jobs?${new URLSearchParams({ status: 'Queued', folder: folder.name })}`}>
                  {folder.waiting}
                </a>,
              ],
              ['Failed jobs', folder.failed === 0 ? '0' : <a href="/failures">{folder.failed}</a>],
              ['Files in the folder', `${folder.fileCount}${folder.fileCountCapped ? '+' : ''}`],
              ['Handled since start', folder.processedCount],
              ['Last queued', <Time at={folder.lastEnqueueAt} />],
              ...(folder.lastError === null
                ? []
                : ([['Last error', <Trouble>{folder.lastError}</Trouble>]] as const)),
            ]}
          />
        </Card>
      ))}
    </>
  );
}
