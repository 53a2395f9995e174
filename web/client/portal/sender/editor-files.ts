/** The files of a document: chosen or dropped, uploaded at once, listed with their titles. */

import type { Upload } from '../../../../clients/typescript/portal.d.ts';
import { filled } from '../../../pages/portal/texts.ts';
import { createElement, requireElement } from '../../dom.ts';
import type { EditorFile, EditorModel } from './editor-model.ts';
import { type EditorData, tellPage, upload } from './sender-requests.ts';
import { showUpload } from './upload-progress.ts';

/** @param changed called when a file has come or gone */
export function startFiles(
  model: EditorModel,
  data: EditorData,
  locations: Map<string, string>,
  changed: () => void,
): void {
  const { words } = data;
  const input = requireElement('#add-files', HTMLInputElement);
  const list = requireElement('#file-list');
  const state = requireElement('#file-state');
  const zone = requireElement('#files');

  const show = () => list.replaceChildren(...model.files.map(rowOf));
  const rowOf = (file: EditorFile) => {
    const title = createElement('input', {
      value: file.displayName,
      maxlength: '250',
      dir: 'auto',
      'aria-label': file.name,
    });
    title.addEventListener('input', () => {
      file.displayName = title.value;
    });
    const remove = createElement('button', { type: 'button' }, filled(words.removeFile, { name: file.name }));
    remove.addEventListener('click', () => {
      model.files = model.files.filter((other) => other !== file);
      for (const person of model.people)
        person.items = person.items.filter((item) => item.uploadId !== file.id);
      show();
      changed();
      input.focus();
    });
    return createElement('li', {}, title, remove);
  };

  const add = async (files: readonly File[]) => {
    // One after another: the order of the list is that of the choice.
    for (const file of files) {
      const { name } = file;
      state.textContent = filled(words.uploading, { name });
      const progress = showUpload(state);
      try {
        const reply = await upload<Upload>(data, file, progress.show);
        const displayName = name.replace(/\.[^.]{1,8}$/, '') || name;
        model.files.push({ id: reply.id, name: reply.name, contentType: reply.contentType, displayName });
        locations.set(reply.id, reply.location);
        state.textContent = filled(words.uploaded, { name });
        show();
        changed();
      } catch (error) {
        tellPage('failed', error);
        const reason = error instanceof Error ? error.message : '';
        state.textContent = filled(words.notUploaded, { name, reason });
      } finally {
        progress.end();
      }
    }
  };

  input.addEventListener('change', () => {
    const files = [...(input.files ?? [])];
    input.value = '';
    void add(files);
  });
  zone.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  zone.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void add(files);
  });
  show();
}
