/** Spanish texts of the pages for users. */
import type { AccountTexts } from './account-english.ts';

export const ACCOUNT_SPANISH: AccountTexts = {
  signIn: {
    title: 'Entrar',
    intro: 'Recibirá por correo electrónico un enlace que permite entrar una sola vez.',
    email: 'Correo electrónico',
    button: 'Enviar el enlace',
    sentTitle: 'Consulte su buzón',
    sentText:
      'Si esta dirección pertenece a un usuario, un enlace está en camino. Funciona una vez y durante 15 minutos. Como máximo tres enlaces son válidos a la vez.',
    linkText: '{name}, este enlace permite entrar una sola vez.',
    linkButton: 'Entrar en {organization}',
    usedTitle: 'Este enlace ya no funciona',
    usedText: 'Ya se utilizó o su plazo ha terminado.',
    again: 'Pedir un enlace nuevo',
  },
  navigation: {
    label: 'Páginas',
    signOut: 'Salir',
    signedIn: '{name} ({role})',
    roles: { administrator: 'administrador', sender: 'remitente' },
  },
  account: {
    title: 'Su cuenta',
    organization: 'Organización',
    role: 'Función',
    email: 'Correo electrónico',
  },
  notAllowed: {
    title: 'No puede hacer esto',
    text: 'Su función en esta organización no lo permite, o la página estuvo abierta demasiado tiempo. Ábrala de nuevo.',
  },
};
