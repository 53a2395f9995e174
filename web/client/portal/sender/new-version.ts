/** Replaces the file of a document: uploads the new one and begins the flow again. */

import type { Upload } from '../../../../clients/typescript/portal.d.ts';
import { type EditorScriptTexts, filled } from '../../../pages/portal/texts.ts';
import { below, requireElement } from '../../dom.ts';
import { call, type SenderSession, upload } from './sender-requests.ts';
import { showUpload } from './upload-progress.ts';

export interface NewVersionData extends SenderSession {
  readonly documentId: string;
  readonly words: EditorScriptTexts;
}

export function startNewVersion(button: HTMLButtonElement, data: NewVersionData): void {
  const { words, documentId } = data;
  const input = requireElement('#version-file', HTMLInputElement);
  const outcome = requireElement('#outcome');
  const say = (text: string, kind: 'bad' | 'busy') => {
    outcome.className = `outcome ${kind}`;
    outcome.textContent = text;
  };
  const replace = async () => {
    const [file] = input.files ?? [];
    if (file === undefined) {
      say(words.noFile, 'bad');
      return;
    }
    button.disabled = true;
    const { name } = file;
    say(filled(words.uploading, { name }), 'busy');
    const progress = showUpload(outcome);
    try {
      const { id, name: kept, contentType } = await upload<Upload>(data, file, progress.show);
      const displayName = name.replace(/\.[^.]{1,8}$/, '') || name;
      const path = `/api/documents/${encodeURIComponent(documentId)}/versions`;
      await call(data, 'POST', path, { file: { id, name: kept, contentType, displayName } });
      location.assign(below(`/account/documents/${encodeURIComponent(documentId)}?done=replaced`));
    } catch (error) {
      say(error instanceof Error ? error.message : words.failed, 'bad');
      button.disabled = false;
    } finally {
      progress.end();
    }
  };
  button.addEventListener('click', () => void replace());
}
