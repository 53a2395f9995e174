/** Parts of the portal for requests that are not sent yet: drafts, templates, saved flows and sessions of the editor. */

import type { Accounts } from './accounts.ts';
import type { DocumentServices } from './document-services.ts';
import { Generations } from './generations/generations.ts';
import { Templates } from './generations/templates.ts';
import { LinkDevices } from './links/link-devices.ts';
import { LinkVisits } from './links/link-visits.ts';
import { PublicLinks } from './links/public-links.ts';
import { Drafts } from './saved-requests/drafts.ts';
import { EditorSessionService } from './saved-requests/editor-sessions.ts';
import { MarksSessionService } from './saved-requests/marks-sessions.ts';
import { SavedFlowService } from './saved-requests/saved-flows.ts';
import type { SigningCodes } from './signing/signing-codes.ts';
import type { PortalCommon } from './wiring-common.ts';

export function createRequestServices(
  common: PortalCommon,
  accounts: Accounts,
  documents: DocumentServices,
  codes: SigningCodes,
) {
  const { options, runtime, pool, blobs, uploads, tickets, links, waits, publicUrl } = common;
  const { tenants, folderRights } = accounts;
  const { creation, directory, order } = documents;
  const generations = new Generations(runtime, { blobs, pool }, uploads, creation);
  const drafts = new Drafts(runtime, uploads, creation);
  const templates = new Templates({
    runtime,
    order,
    uploads,
    directory,
    creation,
    generations,
    folderRights,
  });
  const publicLinks = new PublicLinks({
    runtime,
    order,
    tickets,
    templates,
    creation,
    publicUrl,
    hasMessages: options.messageGateway !== undefined,
  });
  const linkVisits = new LinkVisits({
    runtime,
    folderRights,
    publicLinks,
    templates,
    creation,
    codes,
    links,
    waits,
    onVisit: options.onVisit,
  });
  return {
    drafts,
    generations,
    templates,
    publicLinks,
    linkVisits,
    linkDevices: new LinkDevices({
      runtime,
      folderRights,
      publicLinks,
      visits: linkVisits,
      tickets,
      publicUrl,
    }),
    savedFlows: new SavedFlowService(runtime, creation),
    editorSessions: new EditorSessionService({ runtime, tickets, tenants, drafts, publicUrl, folderRights }),
    marksSessions: new MarksSessionService(runtime, uploads, tenants, publicUrl),
  };
}
