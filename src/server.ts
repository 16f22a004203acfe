import { captureKeys } from './engine/keysInUse';
import { LanguageServer } from './language/languageServer';
import { folderTree } from './repository/folderTree';

// Take the keys out of the environment: the server needs none, and runs as long as the window.
captureKeys();
// With Node's IPC nothing reads standard input, so its end cannot show that the client is gone.
process.on('disconnect', () => process.exit(1));
new LanguageServer(folderTree, __dirname).listen();
