/** Changes of a document that the script of its page makes: buttons, the menu of a person, and a new version of the file. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../../../components/controls.tsx';
import { Drop } from '../../../components/surfaces.tsx';
import { type EditorScriptTexts, filled, type SenderTexts } from '../texts.ts';

/** The person whom a change is about; empty texts where it is about the document. */
export interface Who {
  readonly action: string;
  /** Of a member of a group; empty for others. */
  readonly member: string;
  readonly name: string;
  readonly email: string;
}

export interface Change {
  readonly what: keyof SenderTexts['page']['changes']['buttons'];
  readonly label: string;
  readonly who: Who;
}

/** Given by the script of the page. Undefined: the server renders */
type Act = ((change: Change) => void) | undefined;

export function ChangeButton({ what, label, who, act }: Change & { act?: Act }) {
  return (
    <Button
      data-do={what}
      data-action={who.action}
      data-member={who.member}
      aria-label={who.name === '' ? undefined : `${label}: ${who.name}`}
      onClick={({ currentTarget }) => {
        const menu = currentTarget.closest('details');
        if (menu !== null) {
          // The dialog gives the focus back to what stays in view.
          menu.querySelector('summary')?.focus();
          menu.open = false;
        }
        act?.({ what, label, who });
      }}
    >
      {label}
    </Button>
  );
}

export function PersonMenu({
  name,
  changes,
  act,
}: {
  name: string;
  changes: readonly Change[];
  act?: Act;
}): ComponentChildren {
  return (
    <Drop icon="ellipsis" isNamed={false} name={name}>
      {changes.map((change) => (
        <ChangeButton key={`${change.what} ${change.who.member}`} {...change} act={act} />
      ))}
    </Drop>
  );
}

export interface NewVersionProps {
  readonly texts: Pick<SenderTexts['page'], 'newVersion' | 'newVersionHint' | 'file' | 'replace'>;
  readonly words: Pick<EditorScriptTexts, 'noFile' | 'uploading' | 'failed'>;
}

/** @param send uploads the file and begins the flow again. Undefined: the server renders */
export function NewVersion({
  texts,
  words,
  send,
}: NewVersionProps & { send?: (file: File, progress: (percent: number) => void) => Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState({ tone: '', text: '' });
  const [percent, setPercent] = useState<number>();
  const replace = async () => {
    const file = input.current?.files?.[0];
    if (file === undefined) {
      setOutcome({ tone: 'bad', text: words.noFile });
      return;
    }
    setOutcome({ tone: 'busy', text: filled(words.uploading, { name: file.name }) });
    setPercent(0);
    try {
      await send?.(file, setPercent);
    } catch (error) {
      setOutcome({ tone: 'bad', text: error instanceof Error ? error.message : words.failed });
      setPercent(undefined);
    }
  };
  return (
    <details id="new-version">
      <summary>{texts.newVersion}</summary>
      <p class="hint">{texts.newVersionHint}</p>
      <label>
        {texts.file} <input type="file" id="version-file" ref={input} />
      </label>
      <p>
        <Button id="replace" disabled={percent !== undefined} onClick={() => void replace()}>
          {texts.replace}
        </Button>
      </p>
      <div id="outcome" class={`outcome ${outcome.tone}`} role="status" aria-live="polite" tabIndex={-1}>
        {outcome.text}
      </div>
      {percent !== undefined && <progress class="progress" max="100" value={percent} aria-hidden="true" />}
    </details>
  );
}
