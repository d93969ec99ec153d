; What setup and uninstaller share. packaging/windows/build.py defines VERSION, OUTPUT, ICON and HEADER, and for the setup what tooltray.nsi says.
Unicode true
!include "MUI2.nsh"
!include "LogicLib.nsh"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Tooltray"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define SCHEME "Software\Classes\tooltray"
!define SUPERSEDED "superseded.txt" ; as in foundation/installs/old_versions.py

Name "Tooltray"
InstallDir "$LOCALAPPDATA\Programs\Tooltray"
RequestExecutionLevel user
ManifestDPIAware true
BrandingText " "
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Tooltray"
VIAddVersionKey "CompanyName" "The developers of Tooltray"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "LegalCopyright" "The developers of Tooltray"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_HEADERIMAGE
!define MUI_HEADERIMAGE_RIGHT
!define MUI_HEADERIMAGE_BITMAP "${HEADER}"
!define MUI_HEADERIMAGE_UNBITMAP "${HEADER}"

; both languages, and what setup and uninstaller say in them; comes after the pages
!macro LANGUAGES
    !insertmacro MUI_LANGUAGE "English"
    !insertmacro MUI_LANGUAGE "TradChinese"
    LangString IS_RUNNING ${LANG_ENGLISH} "Another setup or uninstaller of Tooltray is running. Finish it first."
    LangString IS_RUNNING ${LANG_TRADCHINESE} "另一個 Tooltray 安裝或解除安裝程式正在執行，請先完成它。"
!macroend

; ends this program if another setup or uninstaller of the user runs; their names are the same for all versions
!macro ONE_AT_A_TIME
    System::Call 'kernel32::CreateMutex(p 0, i 0, t "Tooltray setup") p .r0 ?e'
    Pop $0
    ${If} $0 = 183 ; ERROR_ALREADY_EXISTS
        MessageBox MB_OK|MB_ICONSTOP "$(IS_RUNNING)" /SD IDOK
        SetErrorLevel 1618 ; ERROR_INSTALL_ALREADY_RUNNING
        Quit
    ${EndIf}
!macroend
