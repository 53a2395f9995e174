/** `/certificates`: certificates that profiles sign with, and how long they are valid. */
import { createElement, requireElement } from '../../client/dom.ts';
import { getJson, requestAny } from './api.ts';
import { duration } from './runtime-page.ts';
import { chip, emptyRow, refill, timeElement } from './state-labels.ts';
import { untilTime } from './times.ts';

interface Profile {
  readonly name: string;
  readonly certificate: {
    readonly source: string;
    readonly subject: string;
    readonly thumbprint: string;
    readonly notAfter: string;
  } | null;
}

interface Ready {
  readonly checks: readonly {
    readonly name: string;
    readonly status: string;
    readonly detail: string | null;
  }[];
}

export async function refreshCertificateList(): Promise<void> {
  const [{ profiles }, { checks }] = await Promise.all([
    getJson<{ readonly profiles: readonly Profile[] }>('/api/profiles'),
    requestAny<Ready>('/api/ready'),
  ]);
  const rows = profiles.map((profile) =>
    certificateRow(
      profile,
      checks.find(({ name }) => name === `profile:${profile.name}`),
    ),
  );
  refill(requireElement('#rows'), ...(rows.length > 0 ? rows : [emptyRow(6, 'No profile is configured.')]));
}

function certificateRow(
  { name, certificate }: Profile,
  check: Ready['checks'][number] | undefined,
): HTMLElement {
  const cells: (HTMLElement | string)[] =
    certificate === null
      ? ['none here: a remote portal signs', '', '', '']
      : [
          createElement('span', { title: `SHA-1 ${certificate.thumbprint}` }, certificate.subject),
          certificate.source,
          timeElement(certificate.notAfter),
          left(certificate.notAfter),
        ];
  const state = chip(check?.status ?? 'Unknown');
  return createElement(
    'tr',
    {},
    createElement('td', {}, name),
    createElement('td', {}, state, check?.detail ? ` ${check.detail}` : ''),
    ...cells.map((cell) => createElement('td', {}, cell)),
  );
}

function left(notAfter: string): string {
  const seconds = untilTime(notAfter) / 1000;
  return seconds <= 0 ? 'ended' : duration(seconds);
}
