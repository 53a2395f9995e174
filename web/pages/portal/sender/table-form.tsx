/** The table for many documents of a template: its form, which sends the table once it is uploaded, and the progress. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { DropZone } from '../../../components/drop-zone.tsx';
import { Progress } from '../../../components/surfaces.tsx';
import { FORM_TOKEN } from '../account-frame.ts';
import { type EditorScriptTexts, filled } from '../texts.ts';

export interface TableFile {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
}

interface TableFieldsProps {
  readonly formToken: string;
  /** Of the template. */
  readonly version: number;
  /** Undefined: none is uploaded. */
  readonly file?: TableFile | undefined;
}

/** Token and table of a form. */
export function TableFields({ formToken, version, file }: TableFieldsProps) {
  return (
    <>
      <input type="hidden" name={FORM_TOKEN} value={formToken} />
      <input type="hidden" name="version" value={version} />
      {(['id', 'name', 'contentType'] as const).map((member) => (
        <input key={member} type="hidden" name={member} value={file?.[member] ?? ''} />
      ))}
    </>
  );
}

export interface TableFormProps extends TableFieldsProps {
  readonly action: string;
  readonly label: string;
  /** It is the one thing to do on the page. */
  readonly isMain: boolean;
  readonly isInvalid: boolean;
  readonly words: Pick<EditorScriptTexts, 'uploading' | 'notUploaded'>;
}

/** @param upload given by the script of the page. Undefined: the server renders */
export function TableForm({
  action,
  label,
  isMain,
  isInvalid,
  words,
  file,
  upload,
  ...fields
}: TableFormProps & { upload?: (file: File, progress: (percent: number) => void) => Promise<TableFile> }) {
  const form = useRef<HTMLFormElement>(null);
  const [uploaded, setUploaded] = useState<TableFile>();
  const [state, setState] = useState(file?.name ?? '');
  const [percent, setPercent] = useState<number>();
  useEffect(() => {
    if (uploaded !== undefined) form.current?.submit();
  }, [uploaded]);
  const choose = async (chosen: File) => {
    const { name } = chosen;
    setState(filled(words.uploading, { name }));
    setPercent(0);
    try {
      setUploaded(await upload?.(chosen, setPercent));
    } catch (error) {
      setState(filled(words.notUploaded, { name, reason: error instanceof Error ? error.message : '' }));
    }
    setPercent(undefined);
  };
  return (
    <form method="post" action={action} id="table-form" ref={form}>
      <TableFields {...fields} file={uploaded ?? file} />
      <DropZone
        id="table-file"
        label={label}
        accept=".csv,.txt,.xlsx,.json"
        isMain={isMain}
        isInvalid={isInvalid}
        onFiles={([chosen]) => {
          if (chosen !== undefined) void choose(chosen);
        }}
      >
        <p id="table-state" class="hint" role="status">
          {state}
        </p>
        {percent !== undefined && <progress class="progress" max="100" value={percent} aria-hidden="true" />}
      </DropZone>
    </form>
  );
}

interface ProgressProps {
  readonly done: number;
  readonly of: number;
  readonly label: string;
}

/** @param follow given by the script of the page: calls with each later number. Undefined: the server renders */
export function GenerationProgress({
  done,
  follow,
  ...props
}: ProgressProps & { follow?: (show: (done: number) => void) => void }) {
  const [now, setNow] = useState(done);
  useEffect(() => follow?.(setNow), []);
  return <Progress done={now} {...props} />;
}
