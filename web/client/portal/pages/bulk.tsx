/** Uploads the table for many documents of a template, and shows their progress. */
import type { DocumentGeneration } from '../../../../clients/typescript/portal.d.ts';
import { GenerationProgress, type TableFile, TableForm } from '../../../pages/portal/sender/table-form.tsx';
import { delay, findElement } from '../../dom.ts';
import { hydrateIslands } from '../../islands.tsx';
import { pageData } from '../page-data.ts';
import { call, type SenderSession, upload } from '../sender/sender-requests.ts';

interface BulkData extends SenderSession {
  /** Id of the generation in progress; absent: none. */
  readonly running?: string;
}

/** Pause between two looks at the progress, milliseconds. */
const LOOK_AGAIN_MS = 1_500;

const data = pageData<BulkData>();
const { running } = data;

/** Looks at the progress until it ends; then the page shows the results. A failed look is repeated. */
function follow(id: string, show: (done: number) => void): void {
  const look = async () => {
    const path = `/api/documents/generation/${encodeURIComponent(id)}`;
    const found = await call<DocumentGeneration>(data, 'GET', path).catch(() => undefined);
    if (found !== undefined) {
      show(found.initializedCount + found.refusedRowsCount);
      if (!['Pending', 'Init', 'Canceling'].includes(found.status)) {
        location.reload();
        return;
      }
    }
    delay(LOOK_AGAIN_MS, () => void look());
  };
  delay(LOOK_AGAIN_MS, () => void look());
}

hydrateIslands({
  table: (props: Parameters<typeof TableForm>[0]) => (
    <TableForm {...props} upload={(file, progress) => upload<TableFile>(data, file, progress)} />
  ),
  progress: (props: Parameters<typeof GenerationProgress>[0]) => (
    <GenerationProgress
      {...props}
      {...(running !== undefined && { follow: (show) => follow(running, show) })}
    />
  ),
});
findElement('#refusal')?.focus();
