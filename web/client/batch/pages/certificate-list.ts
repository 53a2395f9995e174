/** `/certificates`: certificates that profiles sign with, keys of applications, and how long they are valid. */
import type { BatchOperations, PortalKeys, Readiness } from '../../../../clients/typescript/batch.d.ts';
import { createElement, requireElement, setText } from '../../dom.ts';
import { ApiProblem, getJson, getShared, requestAny } from '../api.ts';
import { startPage } from '../live-page.ts';
import { chip, emptyRow, refill, row, timeElement } from '../state-labels.ts';
import { duration, untilTime } from '../times.ts';

type Profiles = BatchOperations['GET /api/profiles']['answer'];

const EXPIRY_TEXTS = { never: 'Valid', later: 'Valid', soon: 'Expires soon', over: 'Expired' } as const;
/** Refreshes between two reads of the keys, which reads many organizations. */
const KEYS_EVERY = 12;

let refreshes = 0;

async function refreshCertificateList(): Promise<void> {
  const [{ profiles }, { checks }] = await Promise.all([
    getJson<Profiles>('/api/profiles'),
    requestAny<Readiness>('/api/ready'),
  ]);
  const rows = profiles.map((profile) =>
    certificateRow(
      profile,
      checks.find(({ name }) => name === `profile:${profile.name}`),
    ),
  );
  refill(requireElement('#rows'), ...(rows.length > 0 ? rows : [emptyRow(6, 'No profile is configured.')]));
  if (refreshes % KEYS_EVERY === 0) await showKeys();
  refreshes += 1;
}

/** Without a portal there are none. */
async function showKeys(): Promise<void> {
  const section = requireElement('#keys-section');
  try {
    const { items, complete } = await getShared<PortalKeys>('/api/portal/keys');
    section.hidden = false;
    const ending = items.filter(({ expiry }) => expiry === 'soon' || expiry === 'over').length;
    setText(
      requireElement('#keys-total'),
      `${items.length} ${items.length === 1 ? 'key' : 'keys'}, ${ending} expired or about to expire${complete ? '' : '. There are more than these'}`,
    );
    refill(
      requireElement('#keys'),
      ...(items.length > 0 ? items.map(keyRow) : [emptyRow(7, 'No key was made.')]),
    );
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.code !== 'route.not-found') throw error;
    section.hidden = true;
  }
}

function keyRow({
  id,
  organization,
  application,
  limited,
  createdAt,
  lastUsedAt,
  expiresAt,
  expiry,
}: PortalKeys['items'][number]): HTMLElement {
  const cells: (HTMLElement | string)[] = [
    application,
    organization,
    createElement('code', { title: id }, limited ? `${id.slice(0, 8)}, limited` : id.slice(0, 8)),
    chip(EXPIRY_TEXTS[expiry]),
    expiresAt === null ? 'never' : timeElement(expiresAt),
    lastUsedAt === null ? 'never' : timeElement(lastUsedAt),
    timeElement(createdAt),
  ];
  return row(...cells);
}

function certificateRow(
  { name, certificate }: Profiles['profiles'][number],
  check: Readiness['checks'][number] | undefined,
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
  return row(name, [state, check?.detail && check.status !== 'Healthy' ? ` ${check.detail}` : ''], ...cells);
}

function left(notAfter: string): string {
  const seconds = untilTime(notAfter) / 1000;
  return seconds <= 0 ? 'ended' : duration(seconds);
}

startPage(refreshCertificateList);
