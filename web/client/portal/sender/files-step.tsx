/** Files of a document: chosen or dropped, uploaded at once, listed with their titles. */
import { useRef, useState } from 'preact/hooks';
import type { Upload } from '../../../../clients/typescript/portal.d.ts';
import { Button, Field } from '../../../components/controls.tsx';
import { DropZone } from '../../../components/drop-zone.tsx';
import { filled } from '../../../pages/portal/texts.ts';
import { type EditorPage, focusOn } from './editor-page.ts';
import { tellPage, typeOf, upload } from './sender-requests.ts';

interface Uploading {
  readonly name: string;
  readonly percent: number;
}

export function FilesStep({ page }: { page: EditorPage }) {
  const { texts, words } = page;
  const [uploading, setUploading] = useState<Uploading>();
  const [state, setState] = useState('');
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
      <DropZone
        id="add-files"
        label={texts.addFiles}
        hint={error ?? texts.fileHint}
        isInvalid={error !== undefined}
        multiple
        onFiles={(files, input) => {
          input.value = '';
          add(files);
        }}
      >
        <p id="file-state" class="hint" role="status" aria-live="polite">
          {state}
        </p>
        {uploading && <progress class="progress" max="100" value={uploading.percent} aria-hidden="true" />}
      </DropZone>
      <FileList page={page} />
      {page.model.files.length > 1 && <Envelope page={page} />}
    </>
  );
}

function FileList({ page }: { page: EditorPage }) {
  const { texts, words, model } = page;
  return (
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
  );
}

/** Several files become one document, where the sender wants it. */
function Envelope({ page }: { page: EditorPage }) {
  const { texts, model } = page;
  return (
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
  );
}
