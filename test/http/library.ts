/** HTTP library of the test servers, and of each program that a test starts: `Hosting__HttpLibrary=node npm test -- …`. */
export const HTTP_LIBRARY = process.env['Hosting__HttpLibrary'] === 'node' ? 'node' : 'auto';
