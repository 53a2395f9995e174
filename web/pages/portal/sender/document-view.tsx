/** One document for its senders: state, participants, downloads, history and actions. Works without scripts. */

import type { ComponentChildren } from 'preact';
import type { SignedInUser } from '../../../../actors/portal/api.ts';
import type { DocumentHistoryEntry } from '../../../../contracts/portal/document-history.ts';
import type { DocumentView } from '../../../../contracts/portal/documents.ts';
import type { FlowActionView } from '../../../../contracts/portal/flow.ts';
import type { Mail } from '../../../../contracts/portal/mails.ts';
import type { DownloadType, Language } from '../../../../contracts/portal/words.ts';
import { DOCUMENT_STATUS } from '../../../../contracts/portal/words.ts';
import { TEXTS } from '../../../../contracts/texts/texts.ts';
import { maySend } from '../../../../machines/portal/user-rights.ts';
import { Button, ButtonLink } from '../../../components/controls.tsx';
import { Facts, PageHead } from '../../../components/surfaces.tsx';
import { AccountForm, Sure, type Viewed } from '../account-form.tsx';
import { type AccountPage, accountPage, addressFrom, personOf } from '../account-frame.ts';
import { WarningLines } from '../document-part.tsx';
import { filled, type SenderTexts } from '../texts.ts';
import { timeText } from './times.ts';

export interface SenderDocument {
  readonly document: DocumentView;
  /** Newest first. */
  readonly mails: readonly Mail[];
  /** Newest first. */
  readonly history: readonly DocumentHistoryEntry[];
  /** Address of older entries; undefined: there are none. */
  readonly older: string | undefined;
  /** The action that led to the page. */
  readonly done: 'sent' | 'reminded' | 'canceled' | 'replaced' | 'mailResent' | 'factorReset' | undefined;
  readonly folders: readonly FolderName[];
  /** People with an authenticator app or passkeys that the user may remove, by id. */
  readonly factorHolders: ReadonlySet<string>;
  /** True when the user may change it. */
  readonly mayChange: boolean;
  /** Path of the file to show; undefined: it has no pages. */
  readonly preview: string | undefined;
}

interface FolderName {
  readonly id: string;
  readonly name: string;
}

/** Data for the script of the page. */
export interface SenderDocumentData {
  readonly formToken: string;
  readonly userId: string;
  readonly documentId: string;
  readonly preview: string | undefined;
  readonly folderId: string | null;
  readonly folders: readonly FolderName[];
  readonly words: SenderTexts['editor']['script'];
  readonly changes: SenderTexts['page']['changes'];
}

/** Properties of each part of the page. */
interface Parts extends Viewed {
  readonly texts: SenderTexts;
  readonly shown: SenderDocument;
}

export function senderDocumentPage(page: AccountPage, user: SignedInUser, shown: SenderDocument): string {
  const texts = TEXTS[page.words.language].senders;
  const { document, done, preview, folders, mayChange } = shown;
  const parts = { page, user, texts, shown };
  const isOpen = document.status === 'Pending' && !document.isDeleted;
  const data: SenderDocumentData = {
    formToken: user.formToken,
    userId: personOf(user),
    documentId: document.id,
    folders: foldersFor(shown),
    preview,
    folderId: document.folder?.id ?? null,
    words: texts.editor.script,
    changes: texts.page.changes,
  };
  return accountPage(page, user, {
    title: document.name,
    hasHeading: true,
    main: (
      <>
        <PageHead
          title={document.name}
          from={{ href: addressFrom(page, '/account/documents'), text: texts.page.back }}
        />
        {done !== undefined && (
          <p class="outcome good" role="status">
            {texts.page[done]}
          </p>
        )}
        <div id="document" class="stack">
          <section>
            {preview !== undefined && <p id="first-page" data-version={document.checksumMd5} />}
            <DocumentFacts {...parts} />
            <WarningLines warnings={document.warnings} words={page.words} />
            <Downloads {...parts} />
            {!mayChange && <p class="hint">{texts.list.readOnly}</p>}
            {mayChange && !document.isDeleted && (
              <p class="ways">
                <Change texts={texts} what="move" />
              </p>
            )}
          </section>
          <section>
            <Participants {...parts} />
          </section>
          <section>
            {mayChange && (isOpen || document.status === 'Refused') && !document.isEnvelope && (
              <NewVersion {...parts} />
            )}
            {maySend(user.role, '/account/templates') && !document.isDeleted && <AsTemplate {...parts} />}
            {mayChange && isOpen && <Cancellation {...parts} />}
          </section>
          <Mails {...parts} />
          <section>
            <History {...parts} />
          </section>
        </div>
      </>
    ),
    script: 'document.js',
    data,
    facts: { folders, current: '/account/documents' },
  });
}

/** Folders to choose from; that of the document is among them, although not all are offered. */
function foldersFor({ document: { folder }, folders }: SenderDocument): readonly FolderName[] {
  if (folder === null || folders.some(({ id }) => id === folder.id)) return folders;
  return [{ id: folder.id, name: folder.name }, ...folders];
}

/** A time in UTC; the script shows it as the distance from now. */
function TimeOf({ language, at }: { language: Language; at: number }) {
  return <time dateTime={new Date(at).toISOString()}>{timeText(language, at)}</time>;
}

/** The person whom a change is about. */
interface About {
  readonly action?: string;
  readonly member?: string;
  readonly name?: string;
  readonly email?: string;
}

/** A button of the script, which shows it. */
function Change({
  texts: { page },
  what,
  about: { action = '', member = '', name = '', email = '' } = {},
}: {
  texts: SenderTexts;
  what: keyof SenderTexts['page']['changes']['buttons'];
  about?: About;
}) {
  const label = page.changes.buttons[what];
  return (
    <Button
      hidden
      data-do={what}
      data-action={action}
      data-member={member}
      data-name={name}
      data-email={email}
      aria-label={name === '' ? undefined : `${label}: ${name}`}
    >
      {label}
    </Button>
  );
}

/**
 * Changes of a person who has not acted. Of XML nobody is replaced: the API does not show which element the person signs.
 */
function PersonChanges({
  texts,
  action: { id, user, status, signRuleUsers },
  isXml,
}: {
  texts: SenderTexts;
  action: FlowActionView;
  isXml: boolean;
}) {
  if (user === null) {
    const left = signRuleUsers.filter(
      ({ signatureDate, hasRefused }) => signatureDate === null && !hasRefused,
    );
    return left.map((one) => <Change texts={texts} what="address" about={aboutOf(id, one, one.id)} />);
  }
  const about = aboutOf(id, user, '');
  return (
    <>
      <Change texts={texts} what="address" about={about} />
      {!isXml && <Change texts={texts} what="replace" about={about} />}
      {status === 'Pending' && user.email !== null && <Change texts={texts} what="link" about={about} />}
    </>
  );
}

function aboutOf(
  action: string,
  { name, email }: { name: string | null; email: string | null },
  member: string,
): About {
  return { action, member, name: name ?? email ?? '', email: email ?? '' };
}

function DocumentFacts({ page: { words }, texts: { page, statuses }, shown: { document } }: Parts) {
  const { language } = words;
  const { status, creationDate, expirationDate, statusUpdateReason: reason } = document;
  const pairs: (readonly [string, ComponentChildren])[] = [
    [
      page.status,
      <span class="status" data-tone={DOCUMENT_STATUS[status].tone}>
        {statuses[status]}
      </span>,
    ],
    [page.created, <TimeOf language={language} at={creationDate} />],
  ];
  if (expirationDate !== null) pairs.push([page.expires, <TimeOf language={language} at={expirationDate} />]);
  if (reason !== null) pairs.push([page.reason, reason]);
  return <Facts pairs={pairs.map(([name, value]) => [name, <bdi>{value}</bdi>])} />;
}

function Participants(parts: Parts) {
  const { page, texts, shown } = parts;
  const { id, flowActions, status, mimeType } = shown.document;
  const { signing } = page.words;
  const isXml = /xml/i.test(mimeType);
  const isOpen = status === 'Pending' && shown.mayChange;
  return (
    <>
      <h2>{texts.page.participants}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ol class="participants" role="list">
        {flowActions.map((action) => (
          <li data-status={action.status}>
            <span class="who">
              <bdi>{nameOf(action, signing.unnamed)}</bdi>
            </span>{' '}
            <span class="what">
              {filled(texts.page.step, { step: String(action.step) })}:{' '}
              {signing.doings[action.type][action.status]}
            </span>
            <GroupMembers texts={texts} action={action} />
            {isOpen && action.status !== 'Completed' && (
              <div class="ways">
                <PersonChanges texts={texts} action={action} isXml={isXml} />
                {action.status === 'Pending' && (
                  <AccountForm
                    of={parts}
                    isChecked
                    action={`/account/documents/${id}/participants/${action.id}/remind`}
                  >
                    <Button type="submit">{texts.page.remind}</Button>
                  </AccountForm>
                )}
                <FactorResets {...parts} action={action} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Removal of apps and passkeys that people have lost. */
function FactorResets({ action, ...parts }: Parts & { action: FlowActionView }) {
  const { texts, shown } = parts;
  const people = action.user === null ? action.signRuleUsers : [action.user];
  return people
    .filter(({ id }) => shown.factorHolders.has(id))
    .map(({ id, name, email }) => (
      <Sure
        of={parts}
        action={`/account/documents/${shown.document.id}/participants/${action.id}/factor-reset/${id}`}
        ask={filled(texts.page.resetFactor, { name: name ?? email ?? '' })}
        sure={texts.page.resetFactorSure}
      />
    ));
}

/** Members of a group and what each did. */
function GroupMembers({
  texts: { page },
  action: { type, numberRequiredSignatures, signRuleUsers },
}: {
  texts: SenderTexts;
  action: FlowActionView;
}) {
  if (signRuleUsers.length === 0) return null;
  const counts = { needed: String(numberRequiredSignatures), count: String(signRuleUsers.length) };
  const acted = type === 'ApproverRule' ? page.memberApproved : page.memberSigned;
  return (
    <>
      <span class="what">{filled(page.membersNeeded, counts)}</span>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ul class="group-members" role="list">
        {signRuleUsers.map(({ name, email, identifier, signatureDate, hasRefused, refusalReason }) => {
          const done = hasRefused ? page.memberRefused : signatureDate === null ? undefined : acted;
          return (
            <li>
              <bdi>{name ?? email ?? identifier ?? ''}</bdi>
              {done !== undefined && `: ${done}`}
              {refusalReason !== null && (
                <>
                  {' '}
                  (<bdi>{refusalReason}</bdi>)
                </>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function nameOf({ user, ruleName }: FlowActionView, unnamed: string): string {
  return ruleName ?? user?.name ?? user?.email ?? unnamed;
}

function Downloads({ texts: { page }, shown: { document } }: Parts) {
  const { id, hasSignature, status } = document;
  const offered: readonly (readonly [DownloadType, string])[] = [
    ['Original', page.original],
    ...(hasSignature ? ([['Signatures', page.signed]] as const) : []),
    ...(hasSignature || status === 'Concluded' ? ([['SignaturesManifest', page.manifest]] as const) : []),
  ];
  return (
    <>
      <h2>{page.downloads}</h2>
      <p class="ways">
        {offered.map(([type, label]) => (
          <ButtonLink href={`/api/documents/${id}/content?type=${type}`} download>
            {label}
          </ButtonLink>
        ))}
      </p>
    </>
  );
}

function Cancellation(parts: Parts) {
  const { texts, shown } = parts;
  return (
    <details>
      <summary>{texts.page.cancel}</summary>
      <AccountForm of={parts} isChecked action={`/account/documents/${shown.document.id}/cancel`}>
        <label>
          {texts.page.cancelReason} <input name="reason" maxLength={500} required />
        </label>
        <Button type="submit" rank="bad">
          {texts.page.cancel}
        </Button>
      </AccountForm>
    </details>
  );
}

function NewVersion({ texts: { page } }: Parts) {
  return (
    <details id="new-version">
      <summary>{page.newVersion}</summary>
      <p class="hint">{page.newVersionHint}</p>
      <label>
        {page.file} <input type="file" id="version-file" />
      </label>
      <p>
        <Button id="replace">{page.replace}</Button>
      </p>
      <div id="outcome" class="outcome" role="status" aria-live="polite" tabIndex={-1} />
    </details>
  );
}

function AsTemplate(parts: Parts) {
  const { templates } = parts.texts;
  const { id, name } = parts.shown.document;
  return (
    <details>
      <summary>{templates.save}</summary>
      <p class="hint">{templates.saveHint}</p>
      <AccountForm of={parts} isChecked action={`/account/documents/${id}/template`}>
        <label>
          {templates.name} <input name="name" maxLength={200} value={name} required />
        </label>
        <Button type="submit">{templates.save}</Button>
      </AccountForm>
    </details>
  );
}

/** Mails about the document; those that wait or failed can be sent now. */
function Mails(parts: Parts) {
  const { page, texts, shown } = parts;
  const { document, mails } = shown;
  if (mails.length === 0) return null;
  const kinds: { readonly [about: string]: string } = page.texts.branding.kinds;
  return (
    <section>
      <h2>{texts.page.mails}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ul class="rows" role="list">
        {mails.map(({ id, about, to, status, creationDate, lastError }) => (
          <li data-status={status}>
            <span>
              <bdi>{to}</bdi>: {kinds[about] ?? about},{' '}
              <TimeOf language={page.words.language} at={creationDate} />, {texts.page.mailStates[status]}
              {lastError !== null && (
                <>
                  {' '}
                  <span class="hint" lang="en">
                    {lastError.message}
                  </span>
                </>
              )}
            </span>
            {shown.mayChange && (status === 'Failed' || status === 'Waiting') && (
              <AccountForm
                of={parts}
                isChecked
                action={`/account/documents/${document.id}/mails/${id}/resend`}
              >
                <Button type="submit">{filled(texts.page.mailResend, { to })}</Button>
              </AccountForm>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const MAIL_ENTRIES: ReadonlySet<string> = new Set(['Mailed', 'MailDelivered', 'MailRefused', 'CodeSent']);

function History({ page, texts, shown: { history, older } }: Parts) {
  const { language } = page.words;
  return (
    <>
      <h2>{texts.page.history}</h2>
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari drops the role of a list without markers. */}
      <ol class="history" role="list">
        {history.map((entry) => {
          const who = whoOf(entry, page, texts);
          return (
            <li>
              <TimeOf language={language} at={entry.date} />{' '}
              {/* The sentences of the journal are in English. */}
              {language === 'en' ? entry.message : texts.page.historyTypes[entry.type]}
              {who !== '' && (
                <>
                  {' '}
                  <span class="hint">
                    <bdi>{who}</bdi>
                  </span>
                </>
              )}
            </li>
          );
        })}
      </ol>
      {older !== undefined && (
        <p>
          <ButtonLink href={addressFrom(page, older)}>{texts.page.moreHistory}</ButtonLink>
        </p>
      )}
    </>
  );
}

function whoOf(
  { type, by, userId }: DocumentHistoryEntry,
  { words }: AccountPage,
  texts: SenderTexts,
): string {
  // The receiver of a mail did nothing; the English sentence names it.
  if (MAIL_ENTRIES.has(type))
    return words.language === 'en' || by === null ? '' : filled(texts.page.historyReceiver, { name: by });
  return by ?? (userId === null ? texts.page.historyService : words.signing.unnamed);
}
