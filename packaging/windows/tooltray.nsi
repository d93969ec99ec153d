; The installer for Windows: per user, without a question about rights. Made by packaging/windows/build.py, which defines VERSION, SOURCE and
; OUTPUT. `/S` is silent. Each version has a folder of its own, so that an update writes over nothing that runs: bridges of the version before
; go on until their AI clients leave. The uninstaller keeps servers and secrets unless the box is ticked, or with /PURGE.
Unicode true
!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!include "nsDialogs.nsh"

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Tooltray"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define APPROVED "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
!define SCHEME "Software\Classes\tooltray"

Name "Tooltray"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Tooltray"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
RequestExecutionLevel user
SetCompressor /SOLID lzma
ManifestDPIAware true
BrandingText " "
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Tooltray"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Tooltray installer"
VIAddVersionKey "LegalCopyright" "The developers of Tooltray"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\${VERSION}\tooltray-app.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Start Tooltray"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
UninstPage custom un.Ask un.TakeAnswer
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "TradChinese"

LangString KEEPS ${LANG_ENGLISH} "Your servers, their secrets and your settings stay, so that a later installation finds them."
LangString KEEPS ${LANG_TRADCHINESE} "你的伺服器、機密與設定會保留，之後重新安裝時仍可使用。"
LangString TAKES ${LANG_ENGLISH} "Delete them too"
LangString TAKES ${LANG_TRADCHINESE} "一併刪除"

Var Purges
Var Box
Var WasRunning

Section
    StrCpy $WasRunning 0
    SetOutPath "$INSTDIR\${VERSION}"
    ; the same version again: its programs may run, so they end first
    ReadEnvStr $3 USERPROFILE
    ${If} ${FileExists} "$3\.tooltray\run\hub.json"
        StrCpy $WasRunning 1
    ${EndIf}
    ${If} ${FileExists} "$INSTDIR\${VERSION}\tooltray.exe"
        nsExec::Exec '"$INSTDIR\${VERSION}\tooltray.exe" stop'
        Pop $0
        Delete "$INSTDIR\${VERSION}\*.old"
        Rename "$INSTDIR\${VERSION}\tooltray-bridge.exe" "$INSTDIR\${VERSION}\tooltray-bridge.exe.old"
    ${EndIf}
    SetOverwrite try
    File /r "${SOURCE}\*"
    ; a hub of the version before leaves for this one; its calls in flight are finished first
    ${If} $WasRunning == 1
        nsExec::Exec '"$INSTDIR\${VERSION}\tooltray.exe" stop'
        Pop $0
    ${EndIf}
    CreateShortcut "$SMPROGRAMS\Tooltray.lnk" "$INSTDIR\${VERSION}\tooltray-app.exe"
    WriteUninstaller "$INSTDIR\uninstall.exe"
    WriteRegStr HKCU "${KEY}" "DisplayName" "Tooltray"
    WriteRegStr HKCU "${KEY}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\${VERSION}\tooltray-app.exe"
    WriteRegStr HKCU "${KEY}" "Publisher" "The developers of Tooltray"
    WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
    WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
    WriteRegDWORD HKCU "${KEY}" "NoModify" 1
    WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
    ${GetSize} "$INSTDIR\${VERSION}" "/S=0K" $0 $1 $2
    WriteRegDWORD HKCU "${KEY}" "EstimatedSize" $0
    WriteRegStr HKCU "${SCHEME}" "" "URL:Tooltray"
    WriteRegStr HKCU "${SCHEME}" "URL Protocol" ""
    WriteRegStr HKCU "${SCHEME}\shell\open\command" "" '"$INSTDIR\${VERSION}\tooltray-app.exe" "%1"'
    ; where it starts at login, the new version does from now on
    ReadRegStr $0 HKCU "${RUN}" "Tooltray"
    ${If} $0 != ""
        WriteRegStr HKCU "${RUN}" "Tooltray" '"$INSTDIR\${VERSION}\tooltray-app.exe" --background'
    ${EndIf}
    ; folders of other versions: what a bridge still uses stays until the next update
    FindFirst $1 $2 "$INSTDIR\*"
    ${DoWhile} $2 != ""
        ${If} $2 != "."
        ${AndIf} $2 != ".."
        ${AndIf} $2 != "${VERSION}"
        ${AndIf} ${FileExists} "$INSTDIR\$2\tooltray-bridge.exe"
            RMDir /r "$INSTDIR\$2"
        ${EndIf}
        FindNext $1 $2
    ${Loop}
    FindClose $1
    ${If} $WasRunning == 1
    ${AndIf} ${Silent}
        Exec '"$INSTDIR\${VERSION}\tooltray-app.exe" --background'
    ${EndIf}
SectionEnd

Function un.onInit
    StrCpy $Purges 0
    ${GetParameters} $0
    ${GetOptions} $0 "/PURGE" $1
    IfErrors +2
        StrCpy $Purges 1
FunctionEnd

Function un.Ask
    nsDialogs::Create 1018
    Pop $0
    ${NSD_CreateLabel} 0 0 100% 30u "$(KEEPS)"
    Pop $0
    ${NSD_CreateCheckbox} 0 34u 100% 12u "$(TAKES)"
    Pop $Box
    nsDialogs::Show
FunctionEnd

Function un.TakeAnswer
    ${NSD_GetState} $Box $0
    ${If} $0 == ${BST_CHECKED}
        StrCpy $Purges 1
    ${EndIf}
FunctionEnd

Section "Uninstall"
    ReadRegStr $2 HKCU "${KEY}" "DisplayVersion"
    ${If} $Purges == 1
        nsExec::Exec '"$INSTDIR\$2\tooltray.exe" uninstall --yes'
        ReadEnvStr $3 USERPROFILE ; the mark that keeps AI clients from starting Tooltray: nothing is left that they could start
        Delete "$3\.tooltray\removed"
        RMDir "$3\.tooltray"
    ${Else}
        nsExec::Exec '"$INSTDIR\$2\tooltray.exe" stop'
    ${EndIf}
    Pop $0
    Delete "$SMPROGRAMS\Tooltray.lnk"
    DeleteRegValue HKCU "${RUN}" "Tooltray"
    DeleteRegValue HKCU "${APPROVED}" "Tooltray"
    DeleteRegKey HKCU "${SCHEME}"
    DeleteRegKey HKCU "${KEY}"
    FindFirst $1 $2 "$INSTDIR\*"
    ${DoWhile} $2 != ""
        ${If} $2 != "."
        ${AndIf} $2 != ".."
        ${AndIf} ${FileExists} "$INSTDIR\$2\tooltray.exe"
            RMDir /r "$INSTDIR\$2"
        ${EndIf}
        FindNext $1 $2
    ${Loop}
    FindClose $1
    Delete "$INSTDIR\uninstall.exe"
    RMDir "$INSTDIR"
SectionEnd
