/** Files of a document: chosen or dropped, uploaded at once, listed with their titles. */
import { useRef, useState } from 'preact/hooks';
import type { Upload } from '../../../../clients/typescript/portal.d.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { Icon } from '../../../components/icon.tsx';
import { filled } from '../../../pages/portal/texts.ts';
import { type EditorPage, focusOn } from './editor-page.ts';
import { tellPage, typeOf, upload } from './sender-requests.ts';

interface Uploading {
  readonly name: string;
  readonly percent: number;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: markup of one step.
export function FilesStep({ page }: { page: EditorPage }) {
  const { texts, words, model } = page;
  const [uploading, setUploading] = useState<Uploading>();
  const [state, setState] = useState('');
  const [isOver, setOver] = useState(false);
  /** One after another: the order of the list is that of the choice, also of a second choice meanwhile. */
  const last = useRef<Promise<void>>(Promise.resolve());

  const addOne = async (file: File) => {
    const { name } = file;
    if (file.size === 0) {
      setState(filled(words.notRead, { name }));
      return;
    }
    setState(filled(words.uploading, { name }));
    setUploading({ name, percent: 0 });
    try {
      const reply = await upload<Upload>(page.data, file, (percent) => setUploading({ name, percent }));
      const contentType = await typeOf(reply.contentType, reply.location);
      page.locations.set(reply.id, reply.location);
      const displayName = name.replace(/\.[^.]{1,8}$/, '') || name;
      page.change(() => {
        page.model.files.push({
          id: reply.id,
          name: reply.name,
          contentType,
          displayName,
        });
      });
      page.corrected('add-files');
      setState(filled(words.uploaded, { name }));
    } catch (error) {
      tellPage('failed', error);
      setState(filled(words.notUploaded, { name, reason: error instanceof Error ? error.message : '' }));
    }
    setUploading(undefined);
  };
  const add = (files: readonly File[]) => {
    for (const file of files) last.current = last.current.then(() => addOne(file));
  };

  const error = page.errorOf('add-files');
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a drop target around the button that does the same. */}
      <div
        id="files"
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          if (!event.dataTransfer?.types.includes('Files')) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          setOver(false);
          const files = [...(event.dataTransfer?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          add(files);
        }}
      >
        <Icon name="upload" size="l" />
        <label for="add-files">{texts.addFiles}</label>
        <input
          type="file"
          id="add-files"
          multiple
          aria-invalid={error === undefined ? undefined : 'true'}
          aria-describedby="file-hint"
          onChange={({ currentTarget }) => {
            const files = [...(currentTarget.files ?? [])];
            currentTarget.value = '';
            add(files);
          }}
        />
        <p class="hint" id="file-hint">
          {error ?? texts.fileHint}
        </p>
        <p id="file-state" class="hint" role="status" aria-live="polite">
          {state}
        </p>
        {uploading && <progress class="progress" max="100" value={uploading.percent} aria-hidden="true" />}
      </div>
      <ul id="file-list" class="rows" aria-label={texts.displayName}>
        {model.files.map((file) => (
          <li key={file.id}>
            <input
              aria-label={file.name}
              dir="auto"
              maxlength={250}
              value={file.displayName}
              onInput={({ currentTarget }) => {
                page.change(() => {
                  file.displayName = currentTarget.value;
                }, `title ${file.id}`);
              }}
              onBlur={() => page.endRow()}
            />
            <Button
              rank="quiet"
              icon="trash-2"
              label={filled(words.removeFile, { name: file.name })}
              onClick={() => {
                page.change(() => {
                  model.files = model.files.filter((other) => other !== file);
                  for (const person of model.people)
                    person.items = person.items.filter((item) => item.uploadId !== file.id);
                  page.selected = undefined;
                });
                focusOn('add-files');
              }}
            />
          </li>
        ))}
      </ul>
      {model.files.length > 1 && (
        <>
          <label class="tick">
            <input
              id="envelope"
              type="checkbox"
              checked={model.envelope}
              aria-invalid={page.errorOf('envelope') === undefined ? undefined : 'true'}
              onChange={({ currentTarget }) => {
                page.corrected('envelope');
                page.change(() => {
                  model.envelope = currentTarget.checked;
                  if (model.envelope && model.envelopeName === '')
                    model.envelopeName = model.files[0]?.displayName ?? '';
                });
              }}
            />{' '}
            {texts.envelope}
          </label>
          {page.errorOf('envelope') && <p class="error">{page.errorOf('envelope')}</p>}
          {model.envelope && (
            <Field
              id="envelope-name"
              label={texts.envelopeName}
              error={page.errorOf('envelope-name')}
              dir="auto"
              maxlength={250}
              value={model.envelopeName}
              onInput={({ currentTarget }) => {
                page.corrected('envelope-name');
                page.change(() => {
                  model.envelopeName = currentTarget.value;
                }, 'envelope');
              }}
            />
          )}
        </>
      )}
    </>
  );
}
