/** `sealwright check-config`: what the configuration says, and whether it would start. */
import { escapeControls } from '../logging.ts';
import { faultLine, type LoadedSettings, warningLine } from '../settings.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { profileSummaries, summaryText } from './profile-summary.ts';
import { painter, type Terminal } from './terminal.ts';

/** Prints every key with its value and origin, secrets masked; 0 when the service would accept it, else 2. */
export function checkConfig(
  loaded: LoadedSettings,
  terminal: Terminal,
  options: { readonly json: boolean },
): ExitCode {
  if (options.json) terminal.out(`${JSON.stringify(asJson(loaded), null, 2)}\n`);
  else {
    const { dim } = painter(terminal);
    const width = Math.max(...loaded.resolved.map(({ key }) => key.length));
    terminal.out(`Environment: ${loaded.environment}\n\n`);
    for (const { key, value, origin } of loaded.resolved) {
      const shown = value === null ? 'none' : value === '' ? '(empty)' : String(value);
      terminal.out(
        `${key.padEnd(width)}  ${escapeControls(shown)}  ${dim(`(${escapeControls(origin ?? 'default')})`)}\n`,
      );
    }
    if (loaded.ok) {
      terminal.out('\nSigning profiles:\n');
      for (const profile of profileSummaries(loaded.settings))
        terminal.out(`  ${escapeControls(summaryText(profile))}\n`);
    }
    printProblems(loaded, terminal);
  }
  return loaded.ok ? EXIT.good : EXIT.refused;
}

/** Warnings and faults on standard error, all of them, one a line. */
export function printProblems(loaded: LoadedSettings, terminal: Terminal): void {
  const { red, yellow } = painter(terminal);
  for (const warning of loaded.warnings)
    terminal.err(`${yellow('warning')}  ${escapeControls(warningLine(warning))}\n`);
  if (loaded.ok) return;
  for (const fault of loaded.faults) terminal.err(`${red('refused')}  ${escapeControls(faultLine(fault))}\n`);
  const count = loaded.faults.length;
  terminal.err(
    `\nThe configuration has ${count} ${count === 1 ? 'fault' : 'faults'}; nothing was started.\n`,
  );
}

function asJson(loaded: LoadedSettings) {
  return {
    ok: loaded.ok,
    environment: loaded.environment,
    settings: Object.fromEntries(
      loaded.resolved.map(({ key, value, origin }) => [key, { value, origin: origin ?? 'default' }]),
    ),
    profiles: loaded.ok ? profileSummaries(loaded.settings) : [],
    warnings: loaded.warnings,
    faults: loaded.ok ? [] : loaded.faults,
  };
}
