/** `sealwright completion`: scripts with which a shell completes commands and options. */
import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** A command, with the path that leads to it; the program itself has an empty path. */
interface Entry {
  readonly path: readonly string[];
  /** Names of its commands, and its options. */
  readonly words: readonly string[];
}

/** Prints the script of a shell. */
export function printCompletion(program: Command, shell: Shell, terminal: Pick<Terminal, 'out'>): void {
  const entries = entriesOf(program, []);
  terminal.out(bashScript(program.name(), entries, shell === 'zsh'));
}

function entriesOf(command: Command, path: readonly string[]): Entry[] {
  const inner = command.commands.filter((other) => other.name() !== 'help');
  const options = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long ?? '');
  return [
    { path, words: [...inner.map((other) => other.name()), ...options, '--help'] },
    ...inner.flatMap((other) => entriesOf(other, [...path, other.name()])),
  ];
}

/** Other words are completed as file names. zsh runs the script with its support for bash completions. */
function bashScript(name: string, entries: readonly Entry[], zsh: boolean): string {
  const known = entries.filter(({ path }) => path.length > 0).map(({ path }) => `"${path.join(' ')}"`);
  const cases = entries.map(({ path, words }) => `    "${path.join(' ')}") words="${words.join(' ')}" ;;`);
  return `${zsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${path:+$path }$word" in
      ${known.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _${name} ${name}
`;
}
