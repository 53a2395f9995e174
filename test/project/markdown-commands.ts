/** Reads the commands of a Markdown page and runs them in one shell, as a reader would type them. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Commands of a page in their order: each `sh` block is one, and each table cell that is nothing but code is one when
 * its row ends with it.
 */
export function commandsOf(markdown: string): string[] {
  const found = markdown.matchAll(/^```sh\n([\s\S]*?)^```|^\|[^\n]*\| `([^\n]+)` \|$/gm);
  return [...found].map(([, block, cell]) => (block ?? cell ?? '').trim());
}

/** Blocks of one language of a page, in their order. */
export function blocksOf(markdown: string, language: 'sh' | 'console'): string[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)]
    .filter(([, named]) => named === language)
    .map(([, , block]) => (block ?? '').trim());
}

export interface CommandResult {
  readonly exitCode: number;
  /** Standard output of the command. */
  readonly out: string;
  /** HTTP statuses of every curl in the command, in order of their ends. */
  readonly statuses: readonly number[];
}

/** One bash process; variables and the working directory stay from one command to the next. */
export class Shell {
  readonly #bash: ChildProcessWithoutNullStreams;
  #out = '';
  #err = '';
  #count = 0;

  /** @param cwd also the home folder: its .curlrc makes every curl print its status to standard error */
  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    writeFileSync(
      join(cwd, '.curlrc'),
      'silent\nconnect-timeout = 10\nwrite-out = "%{stderr}status %{http_code}\\n"\n',
    );
    this.#bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env: { ...env, HOME: cwd } });
    this.#bash.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#out += text;
    });
    this.#bash.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#err += text;
    });
  }

  /** Runs one command to its end. */
  async run(command: string): Promise<CommandResult> {
    this.#count += 1;
    const end = `end-of-command-${this.#count}`;
    this.#out = '';
    this.#err = '';
    this.#bash.stdin.write(`${command}\nprintf '\\n${end} %s\\n' "$?"; echo ${end} >&2\n`);
    const ended = new RegExp(`\\n${end} (\\d+)\\n`);
    while (!ended.test(this.#out) || !this.#err.includes(end)) await this.#output();
    return {
      exitCode: Number(ended.exec(this.#out)?.[1]),
      out: this.#out.replace(ended, ''),
      statuses: [...this.#err.matchAll(/^status (\d+)$/gm)].map(([, status]) => Number(status)),
    };
  }

  close(): void {
    this.#bash.stdin.end();
  }

  #output(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stdout, stderr } = this.#bash;
      const settle = (act: () => void) => () => {
        stdout.off('data', more);
        stderr.off('data', more);
        this.#bash.off('close', closed);
        act();
      };
      const more = settle(resolve);
      const closed = settle(() => reject(new Error(`The shell ended: ${this.#err}`)));
      stdout.on('data', more);
      stderr.on('data', more);
      this.#bash.on('close', closed);
    });
  }
}
