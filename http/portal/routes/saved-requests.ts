/**
 * Requests for documents that are kept: saved flows, drafts, templates, generations, and sessions in which marks are
 * placed or a draft is edited.
 */
import type {
  Drafts,
  EditorSessionService,
  Generations,
  IdempotentRequests,
  LinkDevices,
  LinkVisits,
  MarksSessionService,
  PublicLinks,
  SavedFlowService,
  Templates,
  Uploads,
} from '../../../actors/portal/api.ts';
import { drafts, sendDraft } from '../../../contracts/portal/saved-requests/drafts.ts';
import {
  closeEditorSession,
  createEditorSession,
  getEditorSession,
  openEditorSession,
  saveEditorSession,
  sendEditorSession,
  uploadInEditorSession,
} from '../../../contracts/portal/saved-requests/editor-sessions.ts';
import {
  cancelGeneration,
  createGeneration,
  getGeneration,
  listGenerationRows,
} from '../../../contracts/portal/saved-requests/generations.ts';
import {
  createMarksSession,
  createMarksSessionOfDocuments,
  getMarksSession,
  getMarksSessionAgain,
} from '../../../contracts/portal/saved-requests/marks-sessions.ts';
import {
  createPublicLink,
  endLinkDevice,
  endPublicLink,
  getPublicLink,
  listPublicLinks,
  openLinkDevice,
  sendPublicLinkCode,
  viewPublicLink,
  visitPublicLink,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import {
  createSavedFlowDocuments,
  savedFlows,
} from '../../../contracts/portal/saved-requests/saved-flows.ts';
import {
  createTemplateDocuments,
  createTemplateOfDocument,
  generateTemplateDocuments,
  listTemplateVersions,
  templates,
} from '../../../contracts/portal/saved-requests/templates.ts';
import { badMember } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute, BodyCredentials } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId } from '../input/ids.ts';
import { pageReply, positionIn } from '../input/query-fields.ts';
import { readUploadForm } from '../input/upload-form.ts';
import { requireScope } from '../key-scopes.ts';
import { storing, streamOf } from './uploads.ts';

export function savedFlowRoutes(flows: SavedFlowService, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    handle(savedFlows.list, async ({ tenant, query }) => pageReply(await flows.list(tenant, query))),
    handle(savedFlows.create, ({ tenant, body }, seed) => flows.create(tenant, body, seed), { requests }),
    handle(savedFlows.get, ({ tenant, params }) => flows.get(tenant, params.id)),
    handle(savedFlows.replace, ({ tenant, params, body }) => flows.replace(tenant, params.id, body)),
    handle(savedFlows.remove, ({ tenant, params }) => flows.remove(tenant, params.id)),
    handle(
      createSavedFlowDocuments,
      ({ tenant, params, body }, seed) => flows.createDocuments(tenant, params.id, body, seed),
      { requests },
    ),
  ];
}

export function draftRoutes(service: Drafts, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    handle(drafts.list, async ({ tenant, query }) => pageReply(await service.list(tenant, query))),
    handle(drafts.create, ({ tenant, body }, seed) => service.create(tenant, body, seed), { requests }),
    handle(drafts.get, ({ tenant, params }) => service.get(tenant, params.id)),
    handle(drafts.replace, ({ tenant, params, body }) => service.replace(tenant, params.id, body)),
    handle(drafts.remove, ({ tenant, params }) => service.remove(tenant, params.id)),
    handle(sendDraft, ({ tenant, params }) => service.send(tenant, params.id)),
  ];
}

export function templateRoutes(service: Templates, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    handle(templates.list, async ({ tenant, query: { cursor, ...query } }) => {
      const { q, role, order } = query;
      const filter = { q, role, newestFirst: order === 'Desc' };
      const position = positionIn(cursor, filter);
      return pageReply(await service.list(tenant, { ...query, position }), filter);
    }),
    handle(templates.create, ({ tenant, body }, seed) => service.create(tenant, body, seed), { requests }),
    handle(templates.get, ({ tenant, params, query }) =>
      service.get(tenant, params.id, query.version ?? null),
    ),
    handle(
      templates.replace,
      ({ tenant, params, body }, seed) => service.replace(tenant, params.id, body, seed),
      { requests },
    ),
    handle(templates.remove, ({ tenant, params }) => service.remove(tenant, params.id)),
    handle(
      createTemplateOfDocument,
      ({ tenant, body: { documentId: id, ...settings } }, seed) =>
        service.createOfDocument(tenant, documentId(id), settings, seed),
      { requests },
    ),
    handle(listTemplateVersions, ({ tenant, params }) => service.versions(tenant, params.id)),
    handle(
      createTemplateDocuments,
      ({ tenant, params, body }, seed) => service.createDocuments(tenant, params.id, body, seed),
      { requests },
    ),
    handle(
      generateTemplateDocuments,
      ({ tenant, params, body }, seed) => service.generate(tenant, params.id, body, seed),
      { requests },
    ),
  ];
}

export function publicLinkRoutes(
  links: PublicLinks,
  visits: LinkVisits,
  devices: LinkDevices,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  const authorize = ({ credentials }: { readonly credentials: BodyCredentials }) =>
    visits.checkTicket(credentials.ticket ?? '');
  return [
    handle(listPublicLinks, async ({ tenant, query: { cursor, ...query } }) => {
      const { q, templateId, order } = query;
      const filter = { q, templateId, newestFirst: order === 'Desc' };
      const position = positionIn(cursor, filter);
      return pageReply(await links.list(tenant, { ...query, position }), filter);
    }),
    handle(createPublicLink, ({ tenant, body }, seed) => links.create(tenant, body, seed), { requests }),
    handle(getPublicLink, ({ tenant, params }) => links.get(tenant, params.id)),
    handle(endPublicLink, ({ tenant, params }) => links.end(tenant, params.id)),
    handle(openLinkDevice, ({ tenant, params, body }) => devices.open(tenant, params.id, body)),
    handle(endLinkDevice, ({ tenant, params }) => devices.end(tenant, params.id, params.deviceId)),
    handle(viewPublicLink, async ({ body }) => (await visits.page(body.ticket)).page, { authorize }),
    handle(sendPublicLinkCode, ({ body }) => visits.sendCode(body), { authorize }),
    handle(visitPublicLink, ({ body }) => visits.visit(body), { authorize }),
  ];
}

export function generationRoutes(
  generations: Generations,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    handle(createGeneration, ({ tenant, body }, seed) => generations.create(tenant, body, seed), {
      requests,
    }),
    handle(getGeneration, ({ tenant, params }) => generations.get(tenant, params.id)),
    handle(listGenerationRows, async ({ tenant, params, query }) =>
      pageReply(await generations.rows(tenant, params.id, query)),
    ),
    handle(cancelGeneration, ({ tenant, params }) => generations.cancel(tenant, params.id)),
  ];
}

export function marksSessionRoutes(sessions: MarksSessionService): readonly AnyRoute[] {
  return [
    handle(createMarksSession, ({ tenant, body }) => sessions.create(tenant, body.read.files, body.sent)),
    handle(createMarksSessionOfDocuments, ({ tenant, body }) =>
      sessions.create(tenant, body.read.files, body.sent),
    ),
    handle(getMarksSession, ({ params }) => sessions.get(params.id)),
    handle(getMarksSessionAgain, ({ params }) => sessions.get(params.id)),
  ];
}

export function editorSessionRoutes(sessions: EditorSessionService, uploads: Uploads): readonly AnyRoute[] {
  return [
    handle(createEditorSession, ({ tenant, body }) => {
      if (body.draftId ? body.files?.length : !body.files?.length)
        throw badMember('DraftId', 'Exactly one of draftId and files is needed.');
      // The session reads the draft, which a key with the scope Create alone must not.
      if (body.draftId) requireScope(tenant, { scope: 'Read' });
      return sessions.create(tenant, body);
    }),
    handle(openEditorSession, ({ body }) => sessions.open(body.ticket)),
    handle(getEditorSession, ({ tenant }) => sessions.view(tenant)),
    handle(saveEditorSession, ({ tenant, body }) => sessions.save(tenant, body)),
    handle(uploadInEditorSession, async ({ tenant, header, stream }) => {
      const body = streamOf({ stream });
      const head = { contentType: header('content-type'), contentLength: header('content-length') };
      await sessions.checkUpload(tenant);
      const { sink, name, contentType } = await readUploadForm(body, {
        ...head,
        maxBytes: uploads.maxBytes,
        open: () => uploads.open(),
      });
      const upload = await storing(sink, () => uploads.accept(tenant, sink, { name, contentType }));
      await sessions.uploaded(tenant, upload.id);
      return upload;
    }),
    handle(sendEditorSession, ({ tenant }) => sessions.send(tenant)),
    handle(closeEditorSession, ({ tenant }) => sessions.close(tenant)),
  ];
}
