/** `/api/marks-sessions`. */
import type { MarksSessionService } from '../../../actors/portal/api.ts';
import {
  createMarksSession,
  createMarksSessionOfDocuments,
  getMarksSession,
  getMarksSessionAgain,
} from '../../../contracts/portal/marks-sessions.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';

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
