/** Uploads the table for many documents of a template, and shows their progress. */
import type { DocumentGeneration, Upload } from '../../../../clients/typescript/portal.d.ts';
import { type EditorScriptTexts, filled } from '../../../pages/portal/texts.ts';
import { delay, findElement, requireElement } from '../../dom.ts';
import { pageData } from '../page-data.ts';
import { call, type SenderSession, upload } from '../sender/sender-requests.ts';
import { showUpload } from '../sender/upload-progress.ts';

interface BulkData extends SenderSession {
  readonly words: EditorScriptTexts;
  /** Id of the generation in progress; absent: none. */
  readonly running?: string;
}

/** Pause between two looks at the progress, milliseconds. */
const LOOK_AGAIN_MS = 1_500;

const data = pageData<BulkData>();
const { words } = data;

function startUpload(input: HTMLInputElement): void {
  const state = requireElement('#table-state');
  const zone = requireElement('#table-drop');
  const form = requireElement('#table-form', HTMLFormElement);
  const add = async (file: File) => {
    const { name } = file;
    state.textContent = filled(words.uploading, { name });
    const progress = showUpload(state);
    try {
      const { id, name: kept, contentType } = await upload<Upload>(data, file, progress.show);
      for (const [member, value] of Object.entries({ id, name: kept, contentType }))
        requireElement(`[name="${member}"]`, HTMLInputElement, form).value = value;
      form.submit();
    } catch (error) {
      state.textContent = filled(words.notUploaded, {
        name,
        reason: error instanceof Error ? error.message : '',
      });
    } finally {
      progress.end();
    }
  };
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file !== undefined) void add(file);
  };
  input.addEventListener('change', () => take(input.files));
  zone.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    take(event.dataTransfer?.files);
  });
  requireElement('.account-main').setAttribute('data-ready', 'true');
}

/** Looks at the progress until it ends; then the page shows the results. A failed look is repeated. */
function follow(id: string): void {
  const bar = requireElement('progress', HTMLProgressElement);
  const look = async () => {
    const found = await call<DocumentGeneration>(
      data,
      'GET',
      `/api/documents/generation/${encodeURIComponent(id)}`,
    ).catch(() => undefined);
    if (found !== undefined) {
      bar.value = found.initializedCount + found.refusedRowsCount;
      if (!['Pending', 'Init', 'Canceling'].includes(found.status)) {
        location.reload();
        return;
      }
    }
    delay(LOOK_AGAIN_MS, () => void look());
  };
  delay(LOOK_AGAIN_MS, () => void look());
}

const input = findElement('#table-file', HTMLInputElement);
if (input !== undefined) startUpload(input);
if (data.running !== undefined) follow(data.running);
findElement('#refusal')?.focus();
