/** HTML of a validation report: verdict, signer, time, coverage, and each finding. */

import type { ValidationReport } from '../../../actors/index.ts';
import type { Tone } from '../../../contracts/tone.ts';
import { Button, Field, TextArea } from '../../components/controls.tsx';
import { DropZone } from '../../components/drop-zone.tsx';
import { Island } from '../../components/island.tsx';
import { Badge, Card, Facts, PageHead } from '../../components/surfaces.tsx';
import { counted } from './parts.tsx';

type SignatureRecord = ValidationReport['signatures'][number];
type ValidationResults = ValidationReport['results'];

const DROP = 'Choose it, or drop it here.';

export function ValidationForm() {
  return (
    <>
      <PageHead title="Validate" />
      <Card title="A signed file">
        <form method="post" action="/api/validate" encType="multipart/form-data" class="body stack">
          <div class="columns halves">
            <Island
              name="drop"
              of={DropZone}
              props={{
                id: 'file',
                name: 'file',
                label: 'Signed file',
                hint: DROP,
                required: true,
                hasNames: true,
              }}
            />
            <Island
              name="drop"
              of={DropZone}
              props={{
                id: 'content',
                name: 'content',
                label: 'Signed content, for a detached signature',
                hint: DROP,
                multiple: true,
                hasNames: true,
              }}
            />
          </div>
          <TextArea
            id="certificates"
            name="certificates"
            label="Certificates in PEM, for signatures that hold none"
            rows={3}
            maxLength={32_768}
          />
          <Field
            id="password"
            name="password"
            type="password"
            label="Password, for an encrypted PDF"
            maxLength={127}
            autoComplete="off"
          />
          <div>
            <Button type="submit" rank="main">
              Validate
            </Button>
          </div>
        </form>
      </Card>
      <p class="muted">
        The file is checked and then removed. Programs send it to <code>POST /api/validate</code> and get the
        report of ETSI TS 119 102-2 as XML, or with <code>Accept: application/json</code> the same checks as
        JSON.
      </p>
    </>
  );
}

const VERDICTS: {
  readonly [indication in SignatureRecord['indication']]: { readonly text: string; readonly tone: Tone };
} = {
  'TOTAL-PASSED': { text: 'Valid', tone: 'good' },
  INDETERMINATE: { text: 'Undecided', tone: 'warn' },
  'TOTAL-FAILED': { text: 'Not valid', tone: 'bad' },
};

/** The whole report. */
export function ReportView({
  fileName,
  report: { indication, format, signatures, results },
}: {
  fileName: string;
  report: ValidationReport;
}) {
  return (
    <>
      <p class="small">
        <a href="/validate">Validate another file</a>
      </p>
      <PageHead title={fileName} />
      <p role="status">
        <Badge tone={VERDICTS[indication].tone}>{VERDICTS[indication].text}</Badge>
        {` (${indication}), ${format}, ${signatures.length} signature${signatures.length === 1 ? '' : 's'}`}
      </p>
      <Findings results={results} />
      {signatures.map((record) => (
        <SignatureCard record={record} isFileGood={indication === 'TOTAL-PASSED'} />
      ))}
    </>
  );
}

function qualificationFact({ qualification: found }: SignatureRecord): string | undefined {
  if (found === undefined) return undefined;
  const { word, isIndeterminate, service, provider, territory, reasons } = found;
  const listed = [service, provider, territory].filter((part) => part !== undefined).join(', ');
  const text = `${isIndeterminate ? 'INDETERMINATE-' : ''}${word}${listed === '' ? '' : ` (${listed})`}`;
  return [text, ...reasons].join('. ');
}

/** @param isFileGood else a signature that is good by itself is not shown as valid: the file does not pass */
function SignatureCard({ record, isFileGood }: { record: SignatureRecord; isFileGood: boolean }) {
  const { name: signature, indication, subIndication, certificate, signingTime, level } = record;
  const isLost = indication === 'TOTAL-PASSED' && !isFileGood;
  const verdict = isLost ? 'Good by itself; the file does not pass' : VERDICTS[indication].text;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Verdict', `${verdict} (${indication}${subIndication === undefined ? '' : `, ${subIndication}`})`],
    ['Kind', record.isTimestamp ? 'document time-stamp' : `signature, level ${level ?? 'below B'}`],
    ['Signer', certificate?.subjectName],
    ['Issued by', certificate?.issuerName],
    ['Claimed signing time', signingTime === undefined ? undefined : iso(signingTime)],
    ['Existed at the latest', iso(record.bestTime)],
    ['Covers', record.scope.description],
    ['Reason', record.reason],
    ['Location', record.location],
    ['European lists', qualificationFact(record)],
    ...record.timestamps.map((stamp): readonly [string, string] => [
      `Time-stamp (${stamp.kind})`,
      `${stamp.genTime === undefined ? 'time unknown' : iso(stamp.genTime)}, ${stamp.displayName}, ${VERDICTS[stamp.indication].text}`,
    ]),
    ...record.changes.map((change): readonly [string, string] => [
      `Change in revision ${change.revision}`,
      `${change.description} (${change.permitted ? 'permitted' : 'not permitted'})`,
    ]),
  ];
  return (
    <Card
      title={signature}
      label={signature}
      aside={<Badge tone={isLost ? 'warn' : VERDICTS[indication].tone}>{verdict}</Badge>}
    >
      <div class="body stack">
        <Facts
          pairs={facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]))}
        />
        <Findings results={record.results} within />
        {record.counterSignatures.map((inner) => (
          <SignatureCard record={inner} isFileGood={isFileGood} />
        ))}
      </div>
    </Card>
  );
}

/** @param within below the title of a signature */
function Findings({
  results: { errors, warnings, passedChecks },
  within = false,
}: {
  results: ValidationResults;
  within?: boolean;
}) {
  // A trusted chain holds its own warnings, such as a missing answer about revocation.
  const inner = passedChecks.flatMap((check) => check.inner?.warnings ?? []);
  return (
    <>
      <FindingList title="Errors" items={errors} within={within} />
      <FindingList title="Warnings" items={[...warnings, ...inner]} within={within} />
      {passedChecks.length > 0 && (
        <details>
          <summary>{counted(passedChecks.length, 'check passed', 'checks passed')}</summary>
          <FindingList title="Passed" items={passedChecks} within={within} />
        </details>
      )}
    </>
  );
}

function FindingList({
  title,
  items,
  within,
}: {
  title: string;
  items: ValidationResults['errors'];
  within: boolean;
}) {
  if (items.length === 0) return null;
  const Heading = within ? 'h3' : 'h2';
  return (
    <>
      <Heading>{title}</Heading>
      <ul>
        {items.map(({ message, detail }) => (
          <li>
            {message}
            {detail !== undefined && <small> {detail}</small>}
          </li>
        ))}
      </ul>
    </>
  );
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
