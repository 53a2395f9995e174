/** The controls with which a person places marks, and the pages of one file; the script of the page draws the marks. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageTexts } from './texts.ts';

export type MarkType = 'SignatureVisualRepresentation' | 'SignatureInitials';

/** Work of the script. Files and people are numbers from 0. */
export interface MarksActions {
  /** Shows the pages of a file with its marks. */
  show(pages: HTMLElement, file: number): Promise<void>;
  add(type: MarkType, file: number, person: number): void;
  finish(): void;
}

export interface MarksProps {
  /** Names. */
  readonly files: readonly string[];
  readonly people: readonly string[];
  readonly texts: Pick<
    PageTexts['marks'],
    'title' | 'files' | 'people' | 'addSignature' | 'addInitials' | 'finish'
  >;
}

/** @param start begins with what is told to the person; a removed mark no longer has the focus. Undefined: the server renders */
export function MarksEditor({
  files,
  people,
  texts,
  start,
}: MarksProps & { start?: (told: (text: string, isRemoved?: boolean) => void) => MarksActions }) {
  const pages = useRef<HTMLDivElement>(null);
  const chosenPerson = useRef<HTMLSelectElement>(null);
  const [file, setFile] = useState(0);
  const [person, setPerson] = useState(0);
  const [state, setState] = useState('');
  const [actions, setActions] = useState<MarksActions>();
  useEffect(() => {
    const told = (text: string, isRemoved = false) => {
      setState(text);
      if (isRemoved) chosenPerson.current?.focus();
    };
    setActions(start?.(told));
  }, []);
  useEffect(() => {
    if (pages.current !== null) void actions?.show(pages.current, file);
  }, [actions, file]);
  return (
    <>
      <div class="tools" role="group" aria-label={texts.title}>
        <label>
          {texts.files}{' '}
          <select value={file} onChange={({ currentTarget }) => setFile(Number(currentTarget.value))}>
            <Options of={files} />
          </select>
        </label>
        <label>
          {texts.people}{' '}
          <select
            ref={chosenPerson}
            value={person}
            onChange={({ currentTarget }) => setPerson(Number(currentTarget.value))}
          >
            <Options of={people} />
          </select>
        </label>
        <button type="button" onClick={() => actions?.add('SignatureVisualRepresentation', file, person)}>
          {texts.addSignature}
        </button>
        <button type="button" onClick={() => actions?.add('SignatureInitials', file, person)}>
          {texts.addInitials}
        </button>
        <button type="button" class="main" onClick={() => actions?.finish()}>
          {texts.finish}
        </button>
      </div>
      <p id="state" role="status" aria-live="polite">
        {state}
      </p>
      <div id="pages" class="pages" tabIndex={0} role="group" aria-label={texts.files} ref={pages} />
    </>
  );
}

/** Their values are numbers from 0. */
function Options({ of }: { of: readonly string[] }) {
  return (
    <>
      {of.map((name, number) => (
        <option key={`${number} ${name}`} value={number}>
          {name}
        </option>
      ))}
    </>
  );
}
