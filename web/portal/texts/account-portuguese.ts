/** Portuguese texts of the pages for users. */
import type { AccountTexts } from './account-english.ts';

export const ACCOUNT_PORTUGUESE: AccountTexts = {
  signIn: {
    title: 'Entrar',
    intro: 'Você recebe por e-mail um link que permite entrar uma única vez.',
    email: 'Endereço de e-mail',
    button: 'Enviar o link',
    sentTitle: 'Veja a sua caixa de entrada',
    sentText:
      'Se este endereço pertence a um usuário, um link está a caminho. Ele funciona uma vez e por 15 minutos. No máximo três links são válidos ao mesmo tempo.',
    linkText: '{name}, este link permite entrar uma única vez.',
    linkButton: 'Entrar em {organization}',
    usedTitle: 'Este link não funciona mais',
    usedText: 'Ele já foi usado ou o prazo terminou.',
    again: 'Pedir um novo link',
  },
  navigation: {
    label: 'Páginas',
    signOut: 'Sair',
    signedIn: '{name} ({role})',
    roles: { administrator: 'administrador', sender: 'remetente' },
  },
  account: {
    title: 'Sua conta',
    organization: 'Organização',
    role: 'Função',
    email: 'Endereço de e-mail',
  },
  notAllowed: {
    title: 'Você não pode fazer isto',
    text: 'A sua função nesta organização não permite, ou a página ficou aberta por muito tempo. Abra-a novamente.',
  },
};
