/**
 * The check page: the validation record of a document, for holders of its key. It is public, so identifiers and
 * addresses are partly masked; authorized callers get them from the API.
 *
 * Source: docs/portal-values.md §17.
 */
import type { ComponentChildren } from 'preact';
import type { CheckedDocument } from '../../../actors/portal/api.ts';
import type {
  SignatureView,
  TimestampView,
  ValidationItem,
  ValidationRecord,
  ValidationResults,
} from '../../../contracts/portal/signing/validation.ts';
import { DOCUMENT_STATUS, type StatusOfDocument } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import { Button } from '../../components/controls.tsx';
import { Badge, Facts } from '../../components/surfaces.tsx';
import { portalPage } from './page-frame.tsx';
import type { PageTexts } from './texts.ts';

/** Result for the entered key; `empty`: no key was entered. */
export type ValidationPageResult =
  | {
      readonly found: 'record';
      readonly record: ValidationRecord;
      readonly approvals: CheckedDocument['approvals'];
      readonly files: CheckedDocument['files'];
      readonly branding?: PageBranding | undefined;
    }
  | { readonly found: 'empty' | 'unknown' | 'unsigned' | 'deleted' | 'busy' | 'broken' };

/** Maximum depth of nested checks that are shown. */
const DEPTH = 4;

/** @param key as entered; empty for the form alone */
export function validationPage(finding: ValidationPageResult, key: string, words: PageTexts): string {
  const { check } = words;
  const { found } = finding;
  const title = found === 'record' ? finding.record.name : check.title;
  const form = (
    <form method="get" action="/check" role="search">
      <label for="key">
        {check.key}
        <input
          id="key"
          name="key"
          value={key}
          required
          maxLength={64}
          autoComplete="off"
          autoCapitalize="characters"
          spellcheck={false}
          aria-invalid={found === 'unknown' ? 'true' : undefined}
          aria-describedby={found === 'unknown' ? 'finding' : undefined}
        />
      </label>
      <Button type="submit" rank="main">
        {check.button}
      </Button>
    </form>
  );
  return portalPage({
    words,
    title,
    kind: 'checking',
    branding: found === 'record' ? finding.branding : undefined,
    script: found === 'record' ? 'compare.js' : undefined,
    main: (
      <main id="main" class="check">
        <h1>{title}</h1>
        {found === 'record' ? (
          <>
            <RecordPart {...finding} words={words} />
            {form}
          </>
        ) : (
          <>
            <p>{check.intro}</p>
            {form}
            {found !== 'empty' && (
              <p class="trouble" role="alert" id="finding">
                {check[found]}
              </p>
            )}
          </>
        )}
      </main>
    ),
  });
}

interface Verdict {
  readonly tone: 'open' | 'good' | 'bad';
  readonly signed: keyof PageTexts['check'];
  readonly approved: keyof PageTexts['check'];
}

/** Verdict by how far the document came: only a concluded one is what everybody agreed to. */
const VERDICTS = {
  open: { tone: 'open', signed: 'goodSoFar', approved: 'approvedBySome' },
  concluded: { tone: 'good', signed: 'allGood', approved: 'approvedByAll' },
  ended: { tone: 'bad', signed: 'goodInVain', approved: 'approvedInVain' },
} as const satisfies { readonly [phase in StatusOfDocument['phase']]: Verdict };

function RecordPart({ record, approvals, files, words }: CheckedDocument & { words: PageTexts }) {
  const { check } = words;
  const { signers, status } = record;
  const allGood = signers.every(({ validationResults }) => validationResults.isValid);
  const { tone, signed, approved } = VERDICTS[DOCUMENT_STATUS[status].phase];
  return (
    <>
      <p class={`verdict ${allGood ? tone : 'bad'}`} role="status">
        {allGood ? check[signers.length === 0 ? approved : signed] : check.someBad}
      </p>
      <FactList
        facts={[
          [check.status, check.statuses[record.status]],
          [check.file, record.filename],
          [check.created, <Moment at={record.creationDate} words={words} />],
          [check.createdBy, record.createdBy.name],
          [check.changed, <Moment at={record.updateDate} words={words} />],
        ]}
      />
      <ComparisonPart files={files} words={words} />
      {signers.length > 0 && <h2>{check.signatures}</h2>}
      {signers.map((signature) => (
        <SignaturePart signature={signature} words={words} />
      ))}
      {approvals.length > 0 && <h2>{check.approvals}</h2>}
      {approvals.map((approval) => (
        <ApprovalPart approval={approval} words={words} />
      ))}
    </>
  );
}

/** The key says nothing of the file on which somebody reads it. The script of the page compares. */
function ComparisonPart({
  files: { original, signed },
  words: { check },
}: Pick<CheckedDocument, 'files'> & { words: PageTexts }) {
  return (
    <section id="comparison" data-original={original} data-signed={signed ?? undefined}>
      <h2>{check.compare}</h2>
      <p>{check.compareHint}</p>
      <label hidden>
        {check.held} <input type="file" />
      </label>
      <div role="status">
        <p class="verdict good" data-held="signed" hidden>
          {check.heldSigned}
        </p>
        <p class="verdict open" data-held="original" hidden>
          {check.heldOriginal}
        </p>
        <p class="verdict bad" data-held="other" hidden>
          {check.heldOther}
        </p>
      </div>
      <FactList
        facts={[
          [check.originalSha256, <code>{original}</code>],
          [check.signedSha256, signed !== null && <code>{signed}</code>],
        ]}
      />
    </section>
  );
}

function ApprovalPart({
  approval: { name, title, email, identifier, at },
  words,
}: {
  approval: CheckedDocument['approvals'][number];
  words: PageTexts;
}) {
  const { check } = words;
  return (
    <section class="signature">
      <h3>{name.includes('@') ? hideEmail(name) : name}</h3>
      <FactList
        facts={[
          [check.role, title ?? ''],
          [check.approvedAt, <Moment at={at} words={words} />],
          [check.email, hidden(email, hideEmail)],
          [check.identifier, hidden(identifier, hideIdentifier)],
        ]}
      />
    </section>
  );
}

function SignaturePart({ signature, words }: { signature: SignatureView; words: PageTexts }) {
  const { check } = words;
  const { validationResults: results, validityStart, validityEnd } = signature;
  const kind = signature.isTimestamp
    ? check.timestamp
    : signature.isElectronic
      ? check.electronic
      : check.certificate;
  const stamps = [...signature.signatureTimestamps, ...signature.archiveTimestamps];
  return (
    <section class="signature">
      <h3>{signature.subjectName}</h3>
      <FactList
        facts={[
          [
            kind,
            <Badge tone={results.isValid ? 'good' : 'bad'}>{results.isValid ? check.good : check.bad}</Badge>,
          ],
          [
            check.qualifications.title,
            signature.qualification !== null && (
              <QualificationPart of={signature.qualification} words={words} />
            ),
          ],
          [check.signedAt, <Moment at={signature.signingTime} words={words} />],
          [check.email, hidden(signature.emailAddress, hideEmail)],
          [check.identifier, hidden(signature.identifier, hideIdentifier)],
          [check.company, signature.companyName ?? ''],
          [check.issuer, signature.issuerName],
          [check.keptBy, keeperOf(signature)],
          [
            check.validity,
            validityStart !== null && validityEnd !== null && (
              <>
                <Moment at={validityStart} words={words} /> – <Moment at={validityEnd} words={words} />
              </>
            ),
          ],
          [
            check.thumbprint,
            <code>{Buffer.from(signature.certificateThumbprint, 'base64').toString('hex')}</code>,
          ],
          [check.timestamps, stamps.length > 0 && <TimestampList all={stamps} words={words} />],
        ]}
      />
      <details>
        <summary>{check.checks}</summary>
        <ResultLists results={results} words={words} depth={DEPTH} />
      </details>
    </section>
  );
}

/** The name is a claim of who added the provider; the host is where the signature was made. */
function keeperOf({ signingProvider: keeper }: SignatureView): string {
  return keeper === undefined ? '' : `${keeper.name} (${new URL(keeper.address).host})`;
}

/** In words of the reader, with the listed service; the sentences of the lists are in English, as those of the checks. */
function QualificationPart({
  of: { word, isIndeterminate, provider, service, territory, reasons },
  words,
}: {
  of: NonNullable<SignatureView['qualification']>;
  words: PageTexts;
}) {
  const texts = words.check.qualifications;
  const isSure = !isIndeterminate && (word === 'QESig' || word === 'QESeal');
  const listed = [service, provider, territory].filter((part) => part !== null).join(', ');
  return (
    <>
      <Badge tone={isSure ? 'good' : 'warn'}>{texts.words[word]}</Badge>
      {isIndeterminate && ` ${texts.open}`}
      {listed !== '' && (
        <>
          <br />
          <span class="detail">{listed}</span>
        </>
      )}
      {reasons.map((reason) => (
        <>
          <br />
          <span class="detail">{reason}</span>
        </>
      ))}
    </>
  );
}

function ResultLists({
  results,
  words,
  depth,
}: {
  results: ValidationResults;
  words: PageTexts;
  depth: number;
}) {
  const { check } = words;
  const groups: readonly (readonly [string, readonly ValidationItem[]])[] = [
    [check.errors, results.errors],
    [check.warnings, results.warnings],
    [check.passed, results.passedChecks],
  ];
  return (
    <>
      {groups
        .filter(([, items]) => items.length > 0)
        .map(([title, items]) => (
          <>
            <p>
              <strong>{title}</strong>
            </p>
            <ul class="checks">
              {items.map(({ message, detail, innerValidationResults: inner }) => (
                <li>
                  {message}
                  {detail !== null && (
                    <>
                      <br />
                      <span class="detail">{detail}</span>
                    </>
                  )}
                  {inner !== null && depth > 0 && (
                    <ResultLists results={inner} words={words} depth={depth - 1} />
                  )}
                </li>
              ))}
            </ul>
          </>
        ))}
    </>
  );
}

/** Name and value; pairs without content are omitted. */
function FactList({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return <Facts pairs={facts.filter(([, value]) => value !== '' && value !== false)} />;
}

function TimestampList({ all, words }: { all: readonly TimestampView[]; words: PageTexts }) {
  return (
    <>
      {all.map(({ displayName, genTime }, index) => (
        <>
          {index > 0 && <br />}
          {displayName}: <Moment at={genTime} words={words} />
        </>
      ))}
    </>
  );
}

/** In UTC with the zone named, because the reader's zone is unknown. */
function Moment({ at, words: { language, check } }: { at: Millis | null; words: PageTexts }) {
  if (at === null) return <>{check.unknownTime}</>;
  const text = new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone: 'UTC',
  }).format(at);
  return <time dateTime={new Date(at).toISOString()}>{text}</time>;
}

function hidden(text: string | null, hide: (text: string) => string): string {
  return text === null || text === '' ? '' : hide(text);
}

/** `maria.silva@example.com` → `m***@example.com`. */
export function hideEmail(address: string): string {
  const at = address.lastIndexOf('@');
  return at < 1 ? '***' : `${address.slice(0, 1)}***${address.slice(at)}`;
}

/** `12345678909` → `***678***`: recognisable, but not usable. */
export function hideIdentifier(identifier: string): string {
  if (identifier.length < 7) return '***';
  const middle = Math.floor(identifier.length / 2);
  return `***${identifier.slice(middle - 1, middle + 2)}***`;
}
